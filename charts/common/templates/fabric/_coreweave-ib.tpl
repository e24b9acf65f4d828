{{/*
common.fabric.coreweave-ib: one `rdma/ib` gives a pod every adapter of the node: it is no count. SHARP is off, as
in the provider's manifests for plain InfiniBand.
Source: coreweave/nccl-tests mpi-operator/nccl-test-distributed-h100-64-mpijob.yaml @cb86553.
*/}}
{{- define "common.fabric.coreweave-ib" -}}
env:
  NCCL_COLLNET_ENABLE: "0"
  NCCL_IB_HCA: ibp
  NCCL_SOCKET_IFNAME: eth0
  SHARP_COLL_ENABLE_PCI_RELAXED_ORDERING: "1"
  UCX_NET_DEVICES: "ibp0:1,ibp1:1,ibp2:1,ibp3:1,ibp4:1,ibp5:1,ibp6:1,ibp7:1"
resources:
  rdma/ib: 1
capabilities: [IPC_LOCK]
{{- end -}}
