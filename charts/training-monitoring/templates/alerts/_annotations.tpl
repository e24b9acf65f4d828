{{/*
training-monitoring.annotations: annotations of an alert. Takes (dict "alert" <alert of files/alerts.yaml> "values"
<.Values>).
*/}}
{{- define "training-monitoring.annotations" -}}
{{- $annotations := pick .alert "summary" "runbook" -}}
{{- with .values.alerts.runbookUrl -}}
{{- $_ := set $annotations "runbook_url" (printf "%s#%s" . (lower $.alert.alert)) -}}
{{- end -}}
{{- if .values.dashboards.enabled -}}
{{- with .values.dashboards.grafanaUrl -}}
{{- $dashboard := "trainyard-fleet" -}}
{{- with $.alert.run -}}
{{- $dashboard = printf "trainyard-run?var-namespace={{ $labels.namespace }}&var-run={{ $labels.%s }}" . -}}
{{- end -}}
{{- $_ := set $annotations "dashboard_url" (printf "%s/d/%s" (trimSuffix "/" .) $dashboard) -}}
{{- end -}}
{{- end -}}
{{- toYaml $annotations -}}
{{- end -}}
