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
{{- $accelerators := include "common.accelerators" . | int64 -}}
{{- $given := .Values.processesPerNode | default 1 -}}
{{- $processes := ternary 0 (int64 $given) (kindIs "string" $given) -}}
{{- $size := mul (max $processes $accelerators) 8589934592 -}}
{{- $resources := dict -}}
{{- include "common.podResources" (dict "root" . "into" $resources) -}}
{{- $limits := $resources.limits -}}
{{- if hasKey $limits "memory" -}}
{{- $half := div (include "common.memoryBytes" (dict "name" "resources.limits.memory" "value" $limits.memory) | int64) 2 -}}
{{- if gt (mul $accelerators 1073741824) $half -}}
{{- $reason := printf "half of resources.limits.memory is less than 1Gi for each accelerator (%d)" $accelerators -}}
{{- $least := mul $accelerators 2 -}}
{{- fail (printf "resources.limits.memory is %v, and %s: give at least %dGi, or set sharedMemory.size" $limits.memory $reason $least) -}}
{{- end -}}
{{- /* With 0 processes torchrun counts the cores of the node, which the chart cannot see. */}}
{{- $size = ternary (min $half $size) $half (gt $size 0) | int64 -}}
{{- end -}}
{{- $size = ternary $size 8589934592 (or (gt $size 0) (hasKey $limits "memory")) -}}
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

{{/*
common.memoryBytes: a quantity of memory in bytes, also one with a fraction, such as 1.5Gi. Takes what `common.bytes`
takes.
*/}}
{{- define "common.memoryBytes" -}}
{{- $fraction := "" -}}
{{- if regexMatch "[.]" (toString .value) -}}
{{- $fraction = include "common.thousandths" .value -}}
{{- end -}}
{{- if $fraction -}}
{{- div (int64 $fraction) 1000 -}}
{{- else -}}
{{- include "common.bytes" . -}}
{{- end -}}
{{- end -}}
