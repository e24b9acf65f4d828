{{/*
common.sharedMemorySize: the upper limit of /dev/shm: `sharedMemory.size`, or a default if that is null. The default is
8Gi for each process or, if there are more, for each accelerator, and at most half of the memory limit, because files in
/dev/shm count toward that limit and the processes need the rest. It refuses a limit of which half is less than 1Gi for
each accelerator: NCCL and the data loaders would fill that. Takes the root context.
*/}}
{{- define "common.sharedMemorySize" -}}
{{- if .Values.sharedMemory.size -}}
{{- .Values.sharedMemory.size -}}
{{- else -}}
{{- $limits := .Values.resources.limits | default dict -}}
{{- if not (hasKey $limits "memory") -}}
{{- fail "sharedMemory.size is null, and its default is derived from resources.limits.memory: set one of the two" -}}
{{- end -}}
{{- $half := div (include "common.bytes" (dict "name" "resources.limits.memory" "value" $limits.memory) | int64) 2 -}}
{{- $accelerators := include "common.accelerators" . | int64 -}}
{{- $least := mul $accelerators 1073741824 -}}
{{- if gt $least $half -}}
{{- $reason := printf "half of resources.limits.memory is less than 1Gi for each accelerator (%d)" $accelerators -}}
{{- fail (printf "sharedMemory.size is null, and %s: give at least %dGi, or set the size" $reason (mul $accelerators 2)) -}}
{{- end -}}
{{- $processes := ternary 0 (int64 .Values.processesPerNode) (kindIs "string" .Values.processesPerNode) -}}
{{- $wanted := mul (max $processes $accelerators) 8589934592 -}}
{{- /* torchrun counts the cores of the node, which the chart cannot see. */}}
{{- $size := ternary (min $half $wanted) $half (gt $wanted 0) | int64 -}}
{{- $mebibytes := div $size 1048576 -}}
{{- if lt $mebibytes 1 -}}
{{- $size -}}
{{- else if eq (mod $mebibytes 1024) 0 -}}
{{- printf "%dGi" (div $mebibytes 1024) -}}
{{- else -}}
{{- printf "%dMi" $mebibytes -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* common.accelerators: the number of accelerators of any kind that a pod requests. Takes the root context. */}}
{{- define "common.accelerators" -}}
{{- $count := 0 -}}
{{- range $name, $quantity := merge (deepCopy (.Values.resources.requests | default dict)) (.Values.resources.limits | default dict) -}}
{{- if regexMatch "^(nvidia.com/gpu|nvidia.com/mig-|amd.com/gpu|gpu.intel.com/|habana.ai/gaudi)" $name -}}
{{- $count = add $count (include "common.bytes" (dict "name" (printf "resources.limits.%s" $name) "value" $quantity) | int64) -}}
{{- end -}}
{{- end -}}
{{- $count -}}
{{- end -}}
