module trainyard/tools/kueue

go 1.26.0

// Not built: it holds the definitions of queues, which charts/training-platform writes.
require sigs.k8s.io/kueue v0.19.2
