{{/*
common.fabric.gke-tcpxo: A3 Mega with GPUDirect-TCPXO, for pods that take all 8 GPUs of a node. A daemon beside
the program moves the data; it is a native sidecar, so that it ends with the program, and runs as root because it sets
up the network. The configuration's checker ends a run whose variables are not those of the installed plugin.
Source: GoogleCloudPlatform/container-engine-accelerators gpudirect-tcpxo/README.md (Jan 9, 2026), best-practice.md,
nccl-test-latest.yaml @992db812.
*/}}
{{- define "common.fabric.gke-tcpxo" -}}
{{- $library := "/usr/local/nvidia/lib64" -}}
{{- $host := "/home/kubernetes/bin/nvidia/lib64" -}}
{{- $health := "/run/health-check" -}}
env:
  CUDA_VISIBLE_DEVICES: "0,1,2,3,4,5,6,7"
  LD_LIBRARY_PATH: {{ $library }}
  NCCL_BUFFSIZE: "8388608"
  NCCL_CROSS_NIC: "0"
  NCCL_FASTRAK_CTRL_DEV: eth0
  NCCL_FASTRAK_ENABLE_CONTROL_CHANNEL: "0"
  NCCL_FASTRAK_ENABLE_HOTPATH_LOGGING: "0"
  NCCL_FASTRAK_IFNAME: "eth1,eth2,eth3,eth4,eth5,eth6,eth7,eth8"
  NCCL_FASTRAK_LLCM_DEVICE_DIRECTORY: /dev/aperture_devices
  NCCL_FASTRAK_NUM_FLOWS: "2"
  NCCL_FASTRAK_PLUGIN_ACCEPT_TIMEOUT_MS: "600000"
  NCCL_FASTRAK_USE_LLCM: "1"
  NCCL_FASTRAK_USE_SNAP: "1"
  NCCL_MIN_NCHANNELS: "4"
  NCCL_NET_GDR_LEVEL: PIX
  NCCL_NVLSTREE_MAX_CHUNKSIZE: "131072"
  NCCL_NVLS_ENABLE: "1"
  NCCL_P2P_NET_CHUNKSIZE: "524288"
  NCCL_P2P_NVL_CHUNKSIZE: "1048576"
  NCCL_P2P_PCI_CHUNKSIZE: "524288"
  NCCL_PROTO: "Simple,LL128"
  NCCL_SHIMNET_GUEST_CONFIG_CHECKER_CONFIG_FILE: {{ $library }}/a3plus_guest_config.textproto
  NCCL_SOCKET_IFNAME: eth0
  NCCL_TUNER_CONFIG_PATH: {{ $library }}/a3plus_tuner_config.textproto
  NCCL_TUNER_PLUGIN: libnccl-tuner.so
annotations:
  networking.gke.io/default-interface: eth0
  {{- /* GKE reads this list as YAML and puts the devices into the container of that name. */}}
  devices.gke.io/container.tcpxo-daemon: |
    {{- range $gpu := until 8 }}
    - path: /dev/nvidia{{ $gpu }}
    {{- end }}
    - path: /dev/nvidiactl
    - path: /dev/nvidia-uvm
    - path: /dev/dmabuf_import_helper
networksAnnotation: networking.gke.io/interfaces
networks:
  - {name: default, interface: eth0}
  {{- range $rail := until 8 }}
  - {name: vpc{{ add1 $rail }}, interface: eth{{ add1 $rail }}}
  {{- end }}
mounts:
  - {name: nvidia, hostPath: {{ $host }}, mountPath: {{ $library }}, readOnly: true}
  - {name: aperture-devices, hostPath: /dev/aperture_devices, mountPath: /dev/aperture_devices}
sidecar:
  name: tcpxo-daemon
  image: {{ .Values.fabric.tcpxo.daemonImage | quote }}
  restartPolicy: Always
  command: [/bin/sh, -c]
  args:
    - |
      set -eu
      chmod 755 /fts/entrypoint_rxdm_container.sh
      exec /fts/entrypoint_rxdm_container.sh --num_hops=2
  env:
    - {name: HEALTH_CHECK_LOG_FILE, value: {{ $health }}}
    - {name: LD_LIBRARY_PATH, value: {{ $library }}}
  {{- /* The program starts when the daemon has its buffers, which takes half a minute. */}}
  startupProbe:
    exec:
      command: [cat, {{ $health }}]
    periodSeconds: 5
    failureThreshold: 24
  securityContext:
    runAsUser: 0
    runAsNonRoot: false
    capabilities:
      add: [NET_ADMIN, NET_BIND_SERVICE]
  volumeMounts:
    - {name: fabric-daemon-library, mountPath: {{ $library }}}
    - {name: fabric-daemon-sys, mountPath: /hostsysfs}
    - {name: fabric-daemon-proc-sys, mountPath: /hostprocsysfs}
sidecarVolumes:
  - {name: daemon-library, hostPath: {{ $host }}}
  - {name: daemon-sys, hostPath: /sys}
  - {name: daemon-proc-sys, hostPath: /proc/sys}
{{- end -}}
