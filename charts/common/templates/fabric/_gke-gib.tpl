{{/*
common.fabric.gke-gib: A3 Ultra and A4 with RDMA. The plugin lies on the nodes, where Google's installer puts it.
The tuner's file is that of A3 Ultra; A4 has `tuner_config_a4.txtpb`: set it as `nccl.NCCL_TUNER_CONFIG_PATH`.
Source: GoogleCloudPlatform/container-engine-accelerators gpudirect-rdma/nccl-test.yaml @992db812 (plugin 1.1.1);
GoogleCloudPlatform/cluster-toolkit examples/machine-learning/a3-ultragpu-8g/nemo-framework, which mirrors the plugin's
set_nccl_env.sh.
*/}}
{{- define "common.fabric.gke-gib" -}}
env:
  LD_LIBRARY_PATH: /usr/local/nvidia/lib64
  NCCL_CROSS_NIC: "0"
  NCCL_IB_ADAPTIVE_ROUTING: "1"
  NCCL_IB_FIFO_TC: "84"
  NCCL_IB_QPS_PER_CONNECTION: "4"
  NCCL_IB_TC: "52"
  NCCL_NET: gIB
  NCCL_NET_GDR_LEVEL: PIX
  NCCL_NVLS_CHUNKSIZE: "524288"
  NCCL_P2P_NET_CHUNKSIZE: "131072"
  NCCL_TUNER_CONFIG_PATH: /usr/local/gib/configs/tuner_config_a3u.txtpb
annotations:
  networking.gke.io/default-interface: eth0
networksAnnotation: networking.gke.io/interfaces
networks:
  - {name: default, interface: eth0}
  {{- range $rail := until 8 }}
  - {name: rdma-{{ $rail }}, interface: eth{{ add $rail 2 }}}
  {{- end }}
mounts:
  - {name: nvidia, hostPath: /home/kubernetes/bin/nvidia, mountPath: /usr/local/nvidia, readOnly: true}
  - {name: gib, hostPath: /home/kubernetes/bin/gib, mountPath: /usr/local/gib, readOnly: true}
{{- end -}}
