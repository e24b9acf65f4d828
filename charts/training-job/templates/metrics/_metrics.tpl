{{/* training-job.metricsLabels: labels that select the monitor's Service among those of the operator and the chart. */}}
{{- define "training-job.metricsLabels" -}}
{{ include "common.selectorLabels" . }}
app.kubernetes.io/component: metrics
{{- end -}}

{{/*
training-job.monitor: metadata and the common part of spec of a ServiceMonitor or a PodMonitor. With the labels of its
pod a series tells which run it belongs to. Takes the root context.
*/}}
{{- define "training-job.monitor" -}}
metadata:
  name: {{ include "training-job.name" . | quote }}
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- merge (include "common.labels" . | fromYaml) (.Values.metrics.labels | default dict) | toYaml | nindent 4 }}
spec:
  podTargetLabels:
    {{- with include "training-job.podLabels" . | fromYaml }}
    - {{ .job }}
    - {{ .role }}
    - {{ .index }}
    {{- end }}
{{- end -}}

{{/* training-job.monitorEndpoint: what both kinds of monitors scrape. `run` is the run's name in all kinds of jobs. */}}
{{- define "training-job.monitorEndpoint" -}}
port: metrics
interval: {{ .Values.metrics.interval | quote }}
relabelings:
  - targetLabel: run
    replacement: {{ include "training-job.name" . | quote }}
{{- end -}}
