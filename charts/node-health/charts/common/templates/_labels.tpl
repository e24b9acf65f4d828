{{/*
Labels of a release's objects. Both helpers take the root context.
*/}}

{{/* common.selectorLabels: the labels that never change during a release's life, so that selectors may use them. */}}
{{- define "common.selectorLabels" -}}
app.kubernetes.io/name: {{ include "common.name" . }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{/* common.labels: the labels of every object. They change with the chart's version: never select by them. */}}
{{- define "common.labels" -}}
helm.sh/chart: {{ printf "%s-%s" (include "common.name" .) .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "common.selectorLabels" . }}
{{- with .Chart.AppVersion }}
app.kubernetes.io/version: {{ . | quote }}
{{- end }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/part-of: trainyard
{{- range $name, $value := .Values.commonLabels }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}
