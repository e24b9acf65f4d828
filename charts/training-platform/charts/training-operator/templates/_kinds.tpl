{{/*
The job kinds that this release serves.
*/}}

{{/* training-operator.schemes: the kinds in lower case as a JSON list. Defaults to all six. */}}
{{- define "training-operator.schemes" -}}
{{- .Values.schemes | default (list "jaxjob" "mpijob" "paddlejob" "pytorchjob" "tfjob" "xgboostjob") | sortAlpha | toJson -}}
{{- end -}}

{{/* training-operator.resources: the plural names of the kinds as a JSON list. */}}
{{- define "training-operator.resources" -}}
{{- $names := list -}}
{{- range include "training-operator.schemes" . | fromJsonArray }}
{{- $names = append $names (printf "%ss" .) }}
{{- end }}
{{- $names | toJson -}}
{{- end -}}
