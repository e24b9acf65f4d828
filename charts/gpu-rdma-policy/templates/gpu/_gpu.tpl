{{/* The policy of the GPU operator. */}}

{{/* gpu-rdma-policy.clusterPolicy: the spec of the ClusterPolicy as YAML. Takes the root context. */}}
{{- define "gpu-rdma-policy.clusterPolicy" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
{{- $made := include "gpu-rdma-policy.clusterPolicyMade" . | fromYaml -}}
{{- $spec := mergeOverwrite $made (deepCopy (.Values.gpu.spec | default dict)) -}}
{{- include "gpu-rdma-policy.checkGpu" (dict "settings" $settings "spec" $spec "root" .) -}}
{{- toYaml $spec -}}
{{- end -}}

{{/*
gpu-rdma-policy.operand: the image of an operand and its pull policy. Takes the arguments of gpu-rdma-policy.image.
*/}}
{{- define "gpu-rdma-policy.operand" -}}
{{ include "gpu-rdma-policy.image" . }}
imagePullPolicy: {{ .root.Values.images.pullPolicy | quote }}
{{- end -}}

{{/* gpu-rdma-policy.clusterPolicyMade: the spec without `gpu.spec`. Takes the root context. */}}
{{- define "gpu-rdma-policy.clusterPolicyMade" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
operator:
  runtimeClass: nvidia
daemonsets:
  priorityClassName: system-node-critical
  updateStrategy: RollingUpdate
  rollingUpdate:
    maxUnavailable: "1"
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
driver:
  {{- include "gpu-rdma-policy.gpuDriver" . | nindent 2 }}
toolkit:
  enabled: {{ .Values.gpu.toolkit }}
  {{- if .Values.gpu.toolkit }}
  {{- include "gpu-rdma-policy.operand" (dict "name" "toolkit" "root" .) | nindent 2 }}
  {{- end }}
devicePlugin:
  enabled: true
  {{- include "gpu-rdma-policy.operand" (dict "name" "devicePlugin" "root" .) | nindent 2 }}
gfd:
  enabled: true
  {{- include "gpu-rdma-policy.operand" (dict "name" "devicePlugin" "root" .) | nindent 2 }}
# The DCGM exporter has its own engine.
dcgm:
  enabled: false
dcgmExporter:
  {{- include "gpu-rdma-policy.dcgmExporter" . | nindent 2 }}
mig:
  strategy: {{ .Values.mig.strategy | quote }}
migManager:
  {{- include "gpu-rdma-policy.migManager" . | nindent 2 }}
gdrcopy:
  enabled: {{ $settings.gdrcopy }}
  {{- if $settings.gdrcopy }}
  {{- include "gpu-rdma-policy.operand" (dict "name" "gdrcopy" "root" .) | nindent 2 }}
  {{- end }}
gds:
  enabled: {{ .Values.gpu.storage }}
  {{- if .Values.gpu.storage }}
  {{- include "gpu-rdma-policy.operand" (dict "name" "gds" "root" .) | nindent 2 }}
  {{- end }}
cdi:
  enabled: true
nodeStatusExporter:
  enabled: false
sandboxWorkloads:
  enabled: false
validator:
  {{- include "gpu-rdma-policy.operand" (dict "name" "validator" "root" .) | nindent 2 }}
  plugin:
    env:
      # The workload is a pod with one GPU, on each node at each start of the validator. It never starts if all GPUs are
      # in use.
      - name: WITH_WORKLOAD
        value: "false"
{{- end -}}

{{/* gpu-rdma-policy.gpuDriver: the driver of the GPUs. Takes the root context. */}}
{{- define "gpu-rdma-policy.gpuDriver" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
{{- $driver := .Values.gpu.driver -}}
enabled: {{ $driver.enabled }}
{{- if $driver.enabled }}
{{ include "gpu-rdma-policy.operand" (dict "name" "driver" "root" .) }}
kernelModuleType: {{ $driver.kernelModules | quote }}
usePrecompiled: {{ $driver.precompiled }}
rdma:
  enabled: {{ eq $settings.gpuDirect "peermem" }}
  useHostMofed: {{ and (eq $settings.gpuDirect "peermem") (eq $settings.driver "host") }}
# The pod is not ready until the modules are compiled on the node.
startupProbe:
  initialDelaySeconds: 60
  periodSeconds: 10
  timeoutSeconds: 60
  failureThreshold: 120
manager:
  {{- include "gpu-rdma-policy.operand" (dict "name" "driverManager" "root" .) | nindent 2 }}
upgradePolicy:
  autoUpgrade: {{ $driver.upgrade.auto }}
  {{- if $driver.upgrade.auto }}
  maxParallelUpgrades: {{ int $driver.upgrade.maxParallel }}
  maxUnavailable: {{ $driver.upgrade.maxUnavailable }}
  waitForCompletion:
    podSelector: {{ $driver.upgrade.waitFor | quote }}
    timeoutSeconds: {{ int $driver.upgrade.waitSeconds }}
  podDeletion:
    # The shared memory of training pods is an emptyDir.
    deleteEmptyDir: true
  drain:
    enable: {{ $driver.upgrade.drain }}
    deleteEmptyDir: true
  {{- end }}
{{- end }}
{{- end -}}

{{/*
gpu-rdma-policy.checkGpu: fails for a ClusterPolicy that would not become ready. Takes (dict "settings"
<JSON of gpu-rdma-policy.settings> "spec" <of the ClusterPolicy> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.checkGpu" -}}
{{- $driver := .spec.driver -}}
{{- if hasKey $driver "useOpenKernelModules" -}}
{{- fail "gpu.spec.driver.useOpenKernelModules: the operator does not read it; write gpu.driver.kernelModules: open" -}}
{{- end -}}
{{- if and $driver.enabled (eq .settings.gpuDirect "dmabuf") (eq $driver.kernelModuleType "proprietary") -}}
{{- $advice := "write gpu.driver.kernelModules: open, or gpu.gpuDirect: peermem" -}}
{{- fail (printf "gpu.gpuDirect: dmabuf: the proprietary kernel modules have no DMA-BUF; %s" $advice) -}}
{{- end -}}
{{- if and .spec.gds.enabled $driver.enabled (eq $driver.kernelModuleType "proprietary") -}}
{{- fail "gpu.storage: GPUDirect Storage needs the open kernel modules; write gpu.driver.kernelModules: open" -}}
{{- end -}}
{{- range $value, $module := dict "gpu.gdrcopy" .spec.gdrcopy "gpu.storage" .spec.gds -}}
{{- if and $module.enabled (not $driver.enabled) -}}
{{- fail (printf "%s: the operator loads the module together with its own driver, and gpu.driver.enabled is false; write %s: false"
    $value $value) -}}
{{- end -}}
{{- end -}}
{{- include "gpu-rdma-policy.checkPeermem" . -}}
{{- end -}}

{{/* gpu-rdma-policy.checkPeermem: fails if the GPU driver would wait forever for the driver of the
adapters. */}}
{{- define "gpu-rdma-policy.checkPeermem" -}}
{{- $rdma := .spec.driver.rdma | default dict -}}
{{- $isPeermem := or (eq .settings.gpuDirect "peermem") $rdma.enabled -}}
{{- $drivers := include "gpu-rdma-policy.networkDrivers" .root | fromJsonArray -}}
{{- if and $isPeermem (not .spec.driver.enabled) -}}
{{- $advice := "load nvidia-peermem with the node's driver and write gpu.gpuDirect: none, or dmabuf" -}}
{{- fail (printf "gpu.gpuDirect: peermem: the operator loads the module together with its own driver, and gpu.driver.enabled is false; %s"
    $advice) -}}
{{- end -}}
{{- if and $isPeermem (has "inbox" $drivers) -}}
{{- $advice := "write network.driver: doca, or host if the nodes have it, or gpu.gpuDirect: dmabuf, which does not need it" -}}
{{- fail (printf "gpu.gpuDirect: peermem needs NVIDIA's driver of the adapters, and network.driver is inbox; %s" $advice) -}}
{{- end -}}
{{- if and $isPeermem (gt (len $drivers) 1) -}}
{{- $advice := "give all pools one driver, or write gpu.gpuDirect: dmabuf" -}}
{{- fail (printf "gpu.gpuDirect: peermem: the operator waits for one kind of driver on all nodes, and network.pools have %s; %s"
    (join " and " $drivers) $advice) -}}
{{- end -}}
{{- $isInstalled := and (has "doca" $drivers) .settings.network -}}
{{- if and $isPeermem (not $rdma.useHostMofed) (not $isInstalled) -}}
{{- $advice := "write network.enabled: true with network.driver: doca, or network.driver: host if the nodes have it" -}}
{{- fail (printf "gpu.gpuDirect: peermem: the GPU driver would wait forever for a driver of the adapters that nothing installs; %s"
    $advice) -}}
{{- end -}}
{{- if and $rdma.useHostMofed $isInstalled -}}
{{- $advice := "keep one: write network.driver: host, or remove useHostMofed" -}}
{{- fail (printf "gpu.spec.driver.rdma.useHostMofed uses the nodes' own driver, but network.driver: doca installs another; %s"
    $advice) -}}
{{- end -}}
{{- end -}}
