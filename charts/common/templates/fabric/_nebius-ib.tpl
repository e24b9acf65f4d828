{{/*
common.fabric.nebius-ib: the adapters come with the GPUs, no resource names them. The provider's benchmark runs
privileged; SkyPilot reaches the same bandwidth with IPC_LOCK alone, so that is what is asked for here.
Source: nebius/nebius-solutions-library modules/nccl-test @0616445b; skypilot-org/skypilot examples/nebius_infiniband.
*/}}
{{- define "common.fabric.nebius-ib" -}}
env:
  NCCL_COLLNET_ENABLE: "0"
  NCCL_IB_HCA: mlx5
  NCCL_SOCKET_IFNAME: eth0
  SHARP_COLL_ENABLE_PCI_RELAXED_ORDERING: "1"
  UCX_NET_DEVICES: "mlx5_0:1,mlx5_1:1,mlx5_2:1,mlx5_3:1,mlx5_4:1,mlx5_5:1,mlx5_6:1,mlx5_7:1"
capabilities: [IPC_LOCK]
{{- end -}}
