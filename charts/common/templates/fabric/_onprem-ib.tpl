{{/*
common.fabric.onprem-ib: InfiniBand with NVIDIA's network operator. `rdma_shared_device_a` is the name in the
operator's examples, and one of it gives a pod every adapter. InfiniBand needs no interface in the pod's network.
Source: NVIDIA/nccl docs/userguide/source/env.rst @2.30.7; Mellanox/network-operator example/ @b06827e0.
*/}}
{{- define "common.fabric.onprem-ib" -}}
env:
  NCCL_IB_HCA: mlx5
resources:
  rdma/rdma_shared_device_a: 1
capabilities: [IPC_LOCK]
{{- end -}}
