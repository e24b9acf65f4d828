{{/*
common.fabric.aks-ib: ND H100 and H200 v5. The virtual machine hides where GPUs and adapters sit, so NCCL must be
given a file that says it: without one it takes every adapter for equally near. `rdma/ib` is the SR-IOV device plugin's;
with the shared one write `fabric.resources: {rdma/ib: null, rdma/shared_ib: 1}`. What Azure calls NCCL_MIN_NCHANNELS is
NCCL_MIN_CTAS since NCCL 2.17.
Source: Azure/ai-infrastructure-on-azure examples/llm-foundry/aks @a01b073; Azure/aks-rdma-infiniband tests @700dabb.
*/}}
{{- define "common.fabric.aks-ib" -}}
{{- $sources := list .Values.fabric.env .Values.nccl .Values.env .Values.envSecrets -}}
{{- $given := not (empty .Values.fabric.topologyFile.configMap) -}}
{{- range $source := $sources -}}
{{- $given = or $given (hasKey $source "NCCL_TOPO_FILE") -}}
{{- end -}}
{{- if not $given -}}
{{- $file := "make a ConfigMap of ndv5-topo.xml from Azure/azhpc-images and name it in fabric.topologyFile.configMap" -}}
{{- $path := "set nccl.NCCL_TOPO_FILE to its path in your image" -}}
{{- fail (printf "fabric.profile aks-ib: NCCL needs the topology of the machine: %s, or %s" $file $path) -}}
{{- end -}}
env:
  CUDA_DEVICE_ORDER: PCI_BUS_ID
  NCCL_IB_PCI_RELAXED_ORDERING: "1"
  NCCL_IB_QPS_PER_CONNECTION: "4"
  NCCL_IGNORE_CPU_AFFINITY: "1"
  NCCL_MIN_CTAS: "32"
  NCCL_PXN_DISABLE: "1"
  NCCL_SOCKET_IFNAME: eth0
  UCX_TLS: rc
resources:
  rdma/ib: 8
capabilities: [IPC_LOCK]
{{- end -}}
