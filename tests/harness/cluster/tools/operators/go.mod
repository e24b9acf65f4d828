module trainyard/tools/operators

go 1.26.0

// Not built: the tables of types are made from their CustomResourceDefinitions.
require (
	github.com/argoproj/argo-workflows/v3 v3.7.6
	github.com/kedacore/keda/v2 v2.21.0
	github.com/kserve/kserve v0.17.0
	github.com/project-codeflare/appwrapper v1.1.2
	github.com/ray-project/kuberay/ray-operator v1.6.1
	sigs.k8s.io/karpenter v1.8.0
	sigs.k8s.io/lws v0.8.0
	volcano.sh/volcano v1.15.1
)
