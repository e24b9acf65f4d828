{{/*
Settings of the programs as JSON, under the names of nodehealth/config.py. Both take the root context.
*/}}

{{/* node-health.agentConfig: paths are those in the agent's container. */}}
{{- define "node-health.agentConfig" -}}
{{- $checks := .Values.checks -}}
{{- $paths := dict "node" "/host/state" -}}
{{- range $name := keys $checks.disks.paths -}}
{{- $_ := set $paths $name (printf "/host/disks/%s" $name) -}}
{{- end -}}
{{- dict
    "interval_seconds" $checks.intervalSeconds
    "timeout_seconds" $checks.timeoutSeconds
    "confirmations" $checks.confirmations
    "metrics_port" .Values.agent.metricsPort
    "sysfs" "/host/sys"
    "kernel_log" "/host/kmsg"
    "state" "/host/state"
    "gpu" (dict "enabled" $checks.gpu.enabled "max_uncorrected_errors" $checks.gpu.maxUncorrectedErrors
        "clocks" $checks.gpu.clocks)
    "xid" (dict "enabled" $checks.xid.enabled "xids" $checks.xid.xids)
    "links" (dict "enabled" $checks.links.enabled "expected" $checks.links.expected
        "max_per_hour" $checks.links.maxPerHour)
    "disks" (dict "enabled" $checks.disks.enabled "paths" $paths "min_free_percent" $checks.disks.minFreePercent)
    | toRawJson -}}
{{- end -}}

{{/*
node-health.controllerConfig: an agent reports at the end of the first round after HEARTBEAT_SECONDS of nodehealth/agent.py,
120 s.
*/}}
{{- define "node-health.controllerConfig" -}}
{{- $quarantine := .Values.quarantine -}}
{{- $pools := list -}}
{{- range .Values.pools | default (list (dict "name" "all")) -}}
{{- $pool := dict "name" .name "node_selector" (.nodeSelector | default dict) -}}
{{- $_ := set $pool "max_percent" (ternary .maxPercent 10 (hasKey . "maxPercent")) -}}
{{- $_ := set $pool "at_least" (ternary .atLeast 1 (hasKey . "atLeast")) -}}
{{- $pools = append $pools $pool -}}
{{- end -}}
{{- dict
    "interval_seconds" .Values.controller.intervalSeconds
    "stale_seconds" $quarantine.staleSeconds
    "healthy_seconds" $quarantine.healthySeconds
    "max_quarantines" $quarantine.maxQuarantines
    "window_seconds" (mul (int64 $quarantine.windowHours) 3600)
    "drain" $quarantine.drain
    "pod_selectors" $quarantine.podSelectors
    "off_proofs" .Values.lostNodes.proofs
    "off_seconds" .Values.lostNodes.offSeconds
    "return_seconds" .Values.lostNodes.returnSeconds
    "agent_seconds" (add .Values.checks.intervalSeconds .Values.checks.timeoutSeconds 130)
    "lease_namespace" .Values.controller.leaseNamespace
    "metrics_port" .Values.controller.metricsPort
    "pools" $pools
    | toRawJson -}}
{{- end -}}
