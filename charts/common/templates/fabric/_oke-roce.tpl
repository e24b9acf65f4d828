{{/*
common.fabric.oke-roce: RoCE cluster networks through virtual functions, of which a pod gets one for each entry in
its networks. Nodes with two ports for each GPU have 16, single-port shapes (H200, B200) 8: `fabric.rails: 8`. Oracle's
other way, the host's network with /dev/infiniband from the host, needs privileged containers: it takes
`fabric.hostNetwork: true`, `fabric.mounts` and a securityContext of your own, and the shape's list in NCCL_IB_HCA.
Source: oracle-quickstart/oci-hpc-oke docs/using-rdma-network-interfaces-in-manifests.md,
manifests/nccl-tests/kueue/virtual-functions @61d210a.
*/}}
{{- define "common.fabric.oke-roce" -}}
{{- $fabric := .Values.fabric -}}
{{- $rails := $fabric.rails | default (len ($fabric.networks | default list)) | default 16 -}}
env:
  NCCL_CUMEM_ENABLE: "0"
  NCCL_IB_GID_INDEX: "3"
  NCCL_IB_HCA: mlx5
  NCCL_IB_SL: "0"
  NCCL_IB_SPLIT_DATA_ON_QPS: "0"
  NCCL_IB_TC: "41"
  NCCL_IB_TIMEOUT: "22"
  NCCL_IGNORE_CPU_AFFINITY: "1"
  NCCL_SOCKET_IFNAME: eth0
{{- if not $fabric.hostNetwork }}
resources:
  nvidia.com/rdma-vf: {{ int $rails }}
{{- end }}
networks:
  - name: rdma-vf
    namespace: default
rails: {{ int $rails }}
capabilities: [IPC_LOCK]
{{- end -}}
