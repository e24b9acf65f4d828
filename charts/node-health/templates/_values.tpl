{{/* node-health.checkValues: fails for values that would have no effect, or undo each other. Takes the root context. */}}
{{- define "node-health.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "image" "checks" "checks.intervalSeconds"
    "checks.timeoutSeconds" "checks.confirmations" "checks.gpu" "checks.xid" "checks.links" "checks.disks" "sources"
    "sources.sysfs" "sources.kernelLog" "sources.state" "quarantine" "quarantine.healthySeconds"
    "quarantine.maxQuarantines" "quarantine.windowHours" "quarantine.staleSeconds" "lostNodes"
    "lostNodes.offSeconds" "lostNodes.returnSeconds" "agent" "controller"
    "podDisruptionBudget" "networkPolicy" "podMonitor")) -}}
{{- $names := list -}}
{{- range .Values.pools -}}
{{- if has .name $names -}}
{{- fail (printf "pools: two pools are called %s; give each a name of its own" .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- range $key, $_ := .nodeSelector -}}
{{- if eq $key "trainyard/quarantined" -}}
{{- $what := "the controller sets this label itself, so that a node would leave the pool as it enters quarantine" -}}
{{- fail (printf "pools: nodeSelector names %s: %s; remove it" $key $what) -}}
{{- end -}}
{{- end -}}
{{- $percent := ternary .maxPercent 10 (hasKey . "maxPercent") -}}
{{- $least := ternary .atLeast 1 (hasKey . "atLeast") -}}
{{- if and (not $percent) (not $least) -}}
{{- $advice := "write atLeast: 1, or remove the pool: nodes in no pool are left alone" -}}
{{- fail (printf "pools: %s has maxPercent 0 and atLeast 0, so none of its nodes is ever put into quarantine; %s" .name $advice) -}}
{{- end -}}
{{- end -}}
{{- $checks := .Values.checks -}}
{{- if not (or $checks.gpu.enabled $checks.xid.enabled $checks.links.enabled $checks.disks.enabled) -}}
{{- fail "checks: all checks are disabled, so that every node is healthy; enable one" -}}
{{- end -}}
{{- if hasKey $checks.disks.paths "node" -}}
{{- fail "checks.disks.paths: node is the disk of sources.state; write another name" -}}
{{- end -}}
{{- range $part := list "agent" "controller" -}}
{{- range $name := keys (include "node-health.selector" (dict "part" $part "root" $) | fromYaml) | sortAlpha -}}
{{- if hasKey ((get $.Values $part).podLabels | default dict) $name -}}
{{- fail (printf "%s.podLabels: %s selects the pods; remove it" $part $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := .Values.commonLabels -}}
{{- if or (hasPrefix "helm.sh/" $name) (hasPrefix "app.kubernetes.io/" $name) -}}
{{- fail (printf "commonLabels: the chart sets %s, by which other charts find its objects; remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
