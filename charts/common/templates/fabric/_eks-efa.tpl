{{/*
common.fabric.eks-efa: Elastic Fabric Adapter. From libfabric 1.18 and aws-ofi-nccl 1.7 on no variable is needed,
and several that are common elsewhere do harm. The number is that of a p5.48xlarge; a p4d has 4, a p5en and a p6-b300
16. EFA registers its buffers in huge pages and needs no capability.
Source: aws/aws-ofi-nccl doc/efa-env-var.md @2daf7d30; awslabs/awsome-distributed-ai micro-benchmarks/nccl-tests.
*/}}
{{- define "common.fabric.eks-efa" -}}
resources:
  vpc.amazonaws.com/efa: 32
  hugepages-2Mi: 5120Mi
{{- end -}}
