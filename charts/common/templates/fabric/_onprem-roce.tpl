{{/*
common.fabric.onprem-roce: RoCE v2. An adapter has an address that NCCL can use only where its interface is in the
pod, so the site's networks have to be named. No NCCL_IB_GID_INDEX: the index differs from pod to pod. Traffic class 106
is DSCP 26 with ECN, the lossless class of NVIDIA's guide for RoCE in DSCP-based QoS mode; sites may use another.
Source: NVIDIA/nccl docs/userguide/source/troubleshooting/networking_troubleshooting.rst @2.30.7.
*/}}
{{- define "common.fabric.onprem-roce" -}}
{{- $fabric := .Values.fabric -}}
{{- if not (or $fabric.networks $fabric.hostNetwork .Values.resourceClaims) -}}
{{- $advice := "name the NetworkAttachmentDefinitions of the fast network in fabric.networks" -}}
{{- fail (printf "fabric.profile onprem-roce: RoCE needs an interface in the pod; %s" $advice) -}}
{{- end -}}
env:
  NCCL_IB_HCA: mlx5
  NCCL_IB_TC: "106"
  NCCL_SOCKET_IFNAME: eth0
resources:
  rdma/rdma_shared_device_a: 1
capabilities: [IPC_LOCK]
{{- end -}}
