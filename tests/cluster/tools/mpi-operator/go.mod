module trainyard/tools/mpi-operator

go 1.26.0

// Not built: it holds the CustomResourceDefinition of MPIJob v2beta1, which runs of that kind are held against.
require github.com/kubeflow/mpi-operator v0.7.0
