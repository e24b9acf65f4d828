{{/* The exported GPU metrics. */}}

{{/* gpu-rdma-policy.metricsFile: the exporter's CSV: field, type, help. Takes the root context. */}}
{{- define "gpu-rdma-policy.metricsFile" -}}
{{- $fields := list -}}
{{- range .Values.dcgm.metrics }}
{{- if has .field $fields }}
{{- fail (printf "dcgm.metrics: %s is defined twice; remove one" .field) }}
{{- end }}
{{- $fields = append $fields .field }}
{{ .field }}, {{ .type }}, {{ .help }}
{{- end }}
{{- end -}}

{{/*
gpu-rdma-policy.metricsName: the name of the ConfigMap with the CSV. It contains a hash, because a running exporter does
not notice a changed file: with a new name the operator restarts the exporter. Takes the root context.
*/}}
{{- define "gpu-rdma-policy.metricsName" -}}
{{- $name := printf "%s-dcgm-metrics" (include "common.fullname" . | trunc 40 | trimSuffix "-") -}}
{{- $isOurs := (include "gpu-rdma-policy.settings" . | fromJson).gpu -}}
{{- ternary (printf "%s-%s" $name (include "gpu-rdma-policy.metricsFile" . | sha256sum | trunc 8)) $name $isOurs -}}
{{- end -}}

{{/* gpu-rdma-policy.dcgmExporter: the exporter in the ClusterPolicy. Takes the root context. */}}
{{- define "gpu-rdma-policy.dcgmExporter" -}}
{{- $dcgm := .Values.dcgm -}}
enabled: {{ $dcgm.enabled }}
{{- if $dcgm.enabled }}
{{ include "gpu-rdma-policy.operand" (dict "name" "dcgmExporter" "root" .) }}
config:
  name: {{ include "gpu-rdma-policy.metricsName" . }}
enablePodLabels: {{ $dcgm.podLabels }}
serviceMonitor:
  enabled: {{ $dcgm.serviceMonitor.enabled }}
  interval: {{ $dcgm.serviceMonitor.interval | quote }}
  honorLabels: {{ $dcgm.serviceMonitor.honorLabels }}
  {{- with $dcgm.serviceMonitor.labels }}
  additionalLabels:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end }}
{{- end -}}
