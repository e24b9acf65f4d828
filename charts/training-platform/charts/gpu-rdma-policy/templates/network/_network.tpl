{{/* The policies of the network operator. */}}

{{/* gpu-rdma-policy.networkDrivers: the distinct drivers of all adapters as a JSON list. Takes the root context. */}}
{{- define "gpu-rdma-policy.networkDrivers" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
{{- $drivers := list -}}
{{- range .Values.network.pools -}}{{- $drivers = append $drivers (.driver | default $settings.driver) -}}{{- end -}}
{{- $drivers | default (list $settings.driver) | uniq | sortAlpha | toJson -}}
{{- end -}}

{{/* gpu-rdma-policy.nicClusterPolicy: the spec of the NicClusterPolicy as YAML. Takes the root context. */}}
{{- define "gpu-rdma-policy.nicClusterPolicy" -}}
{{- include "gpu-rdma-policy.checkNetwork" . -}}
{{- $spec := include "gpu-rdma-policy.nicClusterPolicyMade" . | fromYaml -}}
{{- $own := deepCopy (.Values.network.spec | default dict) -}}
{{- $drivers := include "gpu-rdma-policy.networkDrivers" . | fromJsonArray -}}
{{- if and $own.ofedDriver (not (has "doca" $drivers)) -}}
{{- fail (printf "network.spec.ofedDriver installs a driver, but network.driver is %s; write network.driver: doca, or remove it"
    (join " and " $drivers)) -}}
{{- end -}}
{{- if .Values.network.pools -}}
{{- range pick $own "ofedDriver" "rdmaSharedDevicePlugin" "sriovDevicePlugin" | keys | sortAlpha -}}
{{- fail (printf "network.spec.%s: the operator refuses it together with network.pools, whose policies contain it; remove one" .) -}}
{{- end -}}
{{- end -}}
{{- toYaml (mergeOverwrite $spec $own) -}}
{{- end -}}

{{/* gpu-rdma-policy.nicClusterPolicyMade: the spec without `network.spec`. Takes the root context. */}}
{{- define "gpu-rdma-policy.nicClusterPolicyMade" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
{{- $network := .Values.network -}}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- if not $network.pools }}
{{ include "gpu-rdma-policy.nicDevices" (dict "pool" dict "settings" $settings "root" .) }}
{{- end }}
{{- if or $network.multus $network.cniPlugins }}
secondaryNetwork:
  {{- range $part := list "multus" "cniPlugins" }}
  {{- if get $network $part }}
  {{ $part }}:
    {{- include "gpu-rdma-policy.image" (dict "name" $part "root" $) | nindent 4 }}
  {{- end }}
  {{- end }}
{{- end }}
{{- if $settings.nvIpam }}
nvIpam:
  {{- include "gpu-rdma-policy.image" (dict "name" "nvIpam" "root" .) | nindent 2 }}
  enableWebhook: false
{{- end }}
{{- end -}}

{{/*
gpu-rdma-policy.nicDevices: driver and device plugins of a NicClusterPolicy or a NicNodePolicy. Takes (dict
"pool" <one of network.pools, or empty> "settings" <JSON of gpu-rdma-policy.settings> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.nicDevices" -}}
{{- $shared := ternary .pool.sharedDevices .settings.sharedDevices (hasKey .pool "sharedDevices") -}}
{{- $host := ternary .pool.hostDevices .root.Values.rdma.hostDevices (hasKey .pool "hostDevices") -}}
{{- $where := ternary (printf "network.pools: %s" .pool.name) "rdma" (hasKey .pool "name") -}}
{{- include "gpu-rdma-policy.checkDevices" (dict "shared" $shared "host" $host "where" $where "root" .root) -}}
{{- if eq (.pool.driver | default .settings.driver) "doca" }}
ofedDriver:
  {{- include "gpu-rdma-policy.docaDriver" . | nindent 2 }}
{{- end }}
{{- with $shared }}
rdmaSharedDevicePlugin:
  {{- include "gpu-rdma-policy.image" (dict "name" "rdmaSharedDevicePlugin" "root" $.root) | nindent 2 }}
  config: {{ include "gpu-rdma-policy.sharedConfig" (dict "devices" . "root" $.root) | toRawJson }}
{{- end }}
{{- with $host }}
sriovDevicePlugin:
  {{- include "gpu-rdma-policy.image" (dict "name" "sriovDevicePlugin" "root" $.root) | nindent 2 }}
  config: {{ include "gpu-rdma-policy.hostConfig" . | toRawJson }}
{{- end }}
{{- end -}}

{{/* gpu-rdma-policy.docaDriver: the driver container. Takes the arguments of gpu-rdma-policy.nicDevices. */}}
{{- define "gpu-rdma-policy.docaDriver" -}}
{{- $doca := .root.Values.network.doca -}}
{{- if and $doca.upgrade.safeLoad (not $doca.upgrade.auto) -}}
{{- fail "network.doca.upgrade.safeLoad is a step of an automatic upgrade; write network.doca.upgrade.auto: true" -}}
{{- end -}}
{{ include "gpu-rdma-policy.image" (dict "name" "doca" "image" .pool.doca "root" .root) }}
{{- with $doca.env }}
env:
  {{- range $name, $value := . }}
  - name: {{ $name | quote }}
    value: {{ include "common.literal" $value }}
  {{- end }}
{{- end }}
terminationGracePeriodSeconds: 300
startupProbe:
  initialDelaySeconds: 10
  periodSeconds: 20
livenessProbe:
  initialDelaySeconds: 30
  periodSeconds: 30
readinessProbe:
  initialDelaySeconds: 10
  periodSeconds: 30
upgradePolicy:
  autoUpgrade: {{ $doca.upgrade.auto }}
  {{- if $doca.upgrade.auto }}
  maxParallelUpgrades: {{ int $doca.upgrade.maxParallel }}
  safeLoad: {{ $doca.upgrade.safeLoad }}
  waitForCompletion:
    podSelector: {{ $doca.upgrade.waitFor | quote }}
    timeoutSeconds: {{ int $doca.upgrade.waitSeconds }}
  drain:
    enable: {{ $doca.upgrade.drain.enabled }}
    force: {{ $doca.upgrade.drain.force }}
    deleteEmptyDir: {{ $doca.upgrade.drain.deleteEmptyDir }}
    timeoutSeconds: {{ int $doca.upgrade.drain.timeoutSeconds }}
  {{- end }}
{{- end -}}

{{/* gpu-rdma-policy.checkNetwork: fails for pools that the operator would refuse. Takes the root context. */}}
{{- define "gpu-rdma-policy.checkNetwork" -}}
{{- $names := list -}}
{{- $selectors := dict -}}
{{- range .Values.network.pools -}}
{{- $selector := toJson .nodeSelector -}}
{{- if has .name $names -}}
{{- fail (printf "network.pools: %s is defined twice; give each pool a unique name" .name) -}}
{{- end -}}
{{- if hasKey $selectors $selector -}}
{{- fail (printf "network.pools: %s and %s select the same nodes, but a node may belong to one pool; write another nodeSelector"
    (get $selectors $selector) .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- $_ := set $selectors $selector .name -}}
{{- end -}}
{{- end -}}

{{/* gpu-rdma-policy.checkUnused: fails for values of the NicClusterPolicy if none is created. */}}
{{- define "gpu-rdma-policy.checkUnused" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
{{- $written := dict "network.pools" .Values.network.pools "network.spec" .Values.network.spec
    "rdma.sharedDevices" .Values.rdma.sharedDevices "rdma.hostDevices" .Values.rdma.hostDevices
    "network.driver" (eq (.Values.network.driver | default "") "doca") "network.nvIpam" .Values.network.nvIpam
    "network.multus" .Values.network.multus "network.cniPlugins" .Values.network.cniPlugins -}}
{{- range $name, $value := $written -}}
{{- if $value -}}
{{- fail (printf "%s has no effect: the chart creates no NicClusterPolicy; write network.enabled: true" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
