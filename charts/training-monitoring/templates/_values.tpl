{{/* training-monitoring.checkValues: fails for required values that are empty. */}}
{{- define "training-monitoring.checkValues" -}}
{{- $paths := list "monitors" "monitors.interval" "alerts" "alerts.checkpointTooOld" "alerts.checkpointTooOld.olderThanSeconds"
    "alerts.jobRestarting" "alerts.jobRestarting.above" "alerts.gpuIdle" "alerts.gpuIdle.belowPercent"
    "alerts.nvlinkErrors" "alerts.nvlinkErrors.above" "alerts.linkFlap" "alerts.linkFlap.above" "alerts.linkFlap.devices"
    "alerts.xid" "alerts.xid.ignore" "dashboards" "dashboards.enabled" "dashboards.datasource" "dashboards.refresh" -}}
{{- range $alert := .Files.Get "files/alerts.yaml" | fromYaml | keys | sortAlpha -}}
{{- $path := printf "alerts.%s" $alert -}}
{{- $paths = concat $paths (list $path (printf "%s.enabled" $path) (printf "%s.for" $path) (printf "%s.severity" $path)) -}}
{{- end -}}
{{- range $monitor := list "runs" "operator" "multus" "dcgm" -}}
{{- $path := printf "monitors.%s" $monitor -}}
{{- $paths = concat $paths (list $path (printf "%s.enabled" $path) (printf "%s.port" $path)) -}}
{{- end -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" $paths) -}}
{{- end -}}
