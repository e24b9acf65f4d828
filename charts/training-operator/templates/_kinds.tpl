{{/*
Job kinds that this release serves.
*/}}

{{/* training-operator.schemes: the kinds in lower case, as JSON: those that the values name, or all six. */}}
{{- define "training-operator.schemes" -}}
{{- .Values.schemes | default (list "jaxjob" "mpijob" "paddlejob" "pytorchjob" "tfjob" "xgboostjob") | sortAlpha | toJson -}}
{{- end -}}

{{/* training-operator.resources: their plural names, as JSON. */}}
{{- define "training-operator.resources" -}}
{{- $names := list -}}
{{- range include "training-operator.schemes" . | fromJsonArray }}
{{- $names = append $names (printf "%ss" .) }}
{{- end }}
{{- $names | toJson -}}
{{- end -}}
