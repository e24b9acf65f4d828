{{/*
Accelerators of a pod, and the processes that use them. Every helper takes the root context.
*/}}

{{/* common.acceleratorPattern: names of the extended resources that are accelerators. */}}
{{- define "common.acceleratorPattern" -}}
^(nvidia[.]com/(gpu|mig-)|amd[.]com/gpu|gpu[.]intel[.]com/|habana[.]ai/gaudi)
{{- end -}}

{{/*
common.accelerators: the number of accelerators of any kind that a pod requests. Devices of `resourceClaims` are unknown
here.
*/}}
{{- define "common.accelerators" -}}
{{- $count := 0 -}}
{{- range $name, $quantity := merge (deepCopy (.Values.resources.requests | default dict)) (.Values.resources.limits | default dict) -}}
{{- if and (regexMatch (include "common.acceleratorPattern" $) $name) (not (kindIs "invalid" $quantity)) -}}
{{- include "common.checkQuantity" (dict "at" "resources.limits" "name" $name "quantity" $quantity) -}}
{{- $count = add $count (int64 $quantity) -}}
{{- end -}}
{{- end -}}
{{- $count -}}
{{- end -}}

{{/*
common.processes: the number of processes that the launcher starts in each pod, as text: `processesPerNode`, or if that
is null one for each accelerator. A process sees one MIG device alone, so a pod with several still has one process.
*/}}
{{- define "common.processes" -}}
{{- $given := .Values.processesPerNode -}}
{{- if kindIs "string" $given -}}
{{- $given -}}
{{- else if not (kindIs "invalid" $given) -}}
{{- int64 $given -}}
{{- else -}}
{{- $names := keys (merge (deepCopy (.Values.resources.requests | default dict)) (.Values.resources.limits | default dict)) -}}
{{- $isMig := regexMatch "(^| )nvidia[.]com/mig-" (join " " $names) -}}
{{- ternary 1 (max 1 (include "common.accelerators" . | int64)) $isMig -}}
{{- end -}}
{{- end -}}
