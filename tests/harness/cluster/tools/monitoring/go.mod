module trainyard/tools/monitoring

go 1.26.0

// Not built: of one the tests take the CustomResourceDefinitions, of the other the list of its metrics.
require (
	github.com/prometheus-operator/prometheus-operator v0.85.0
	github.com/prometheus/node_exporter v1.12.1
)
