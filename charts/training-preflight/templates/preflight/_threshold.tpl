{{/*
Threshold and size of the last row. Each helper takes the root context.
*/}}

{{/*
training-preflight.threshold: {busBandwidth, bytes, source} of the values or the table, `{}` without a threshold.
*/}}
{{- define "training-preflight.threshold" -}}
{{- $given := .Values.threshold -}}
{{- if not (kindIs "invalid" $given.busBandwidth) -}}
{{- dict "busBandwidth" $given.busBandwidth "source" "threshold.busBandwidth" | toYaml -}}
{{- else if $given.hardware -}}
{{- $fabric := .Values.fabric.profile -}}
{{- $nodes := int64 .Values.nodes -}}
{{- $found := dict -}}
{{- range (.Files.Get "files/thresholds.yaml" | fromYaml).thresholds -}}
{{- $fits := and (eq .hardware $given.hardware) (or (not .fabric) (eq (.fabric | default "") $fabric)) -}}
{{- if and $fits (ge $nodes (int64 .nodes.least)) (le $nodes (int64 (.nodes.most | default $nodes))) -}}
{{- $found = . -}}
{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- $what := printf "%d node(s) of %s with fabric.profile %s" $nodes $given.hardware $fabric -}}
{{- fail (printf "threshold.hardware: the table has no entry for %s: set threshold.busBandwidth" $what) -}}
{{- end -}}
{{- toYaml $found -}}
{{- end -}}
{{- end -}}

{{/* training-preflight.lastSize: the largest size in bytes. */}}
{{- define "training-preflight.lastSize" -}}
{{- $byRule := ternary "4Gi" "16Mi" (eq (include "common.hasGpus" .) "true") -}}
{{- $threshold := include "training-preflight.threshold" . | fromYaml -}}
{{- $size := .Values.sizes.end | default $threshold.bytes | default $byRule -}}
{{- include "common.bytes" (dict "name" "sizes.end" "value" $size) -}}
{{- end -}}

{{/* training-preflight.firstSize: the smallest size in bytes. */}}
{{- define "training-preflight.firstSize" -}}
{{- include "common.bytes" (dict "name" "sizes.start" "value" .Values.sizes.start) -}}
{{- end -}}

{{/* training-preflight.checkThreshold: fails for thresholds and sizes that contradict each other. */}}
{{- define "training-preflight.checkThreshold" -}}
{{- $given := .Values.threshold -}}
{{- $hasGpus := eq (include "common.hasGpus" .) "true" -}}
{{- if and $given.hardware (not (kindIs "invalid" $given.busBandwidth)) -}}
{{- fail "threshold: hardware and busBandwidth exclude each other: remove one of the two" -}}
{{- end -}}
{{- if and $given.hardware (not $hasGpus) -}}
{{- $advice := "set resources.limits, e.g. nvidia.com/gpu: 8, or write threshold.busBandwidth" -}}
{{- fail (printf "threshold.hardware %s: these pods have no GPUs; %s" $given.hardware $advice) -}}
{{- end -}}
{{- $first := include "training-preflight.firstSize" . | int64 -}}
{{- $last := include "training-preflight.lastSize" . | int64 -}}
{{- if lt $last $first -}}
{{- fail (printf "sizes.end is %d bytes, less than sizes.start: raise it, or lower sizes.start" $last) -}}
{{- end -}}
{{- with (include "training-preflight.threshold" . | fromYaml).bytes -}}
{{- if lt $last (include "common.bytes" (dict "name" "bytes" "value" .) | int64) -}}
{{- $advice := printf "write %s or more, or threshold.busBandwidth" . -}}
{{- fail (printf "sizes.end: the threshold of %s applies to %s, and smaller sizes are slower; %s" $given.hardware . $advice) -}}
{{- end -}}
{{- end -}}
{{- $memory := (.Values.resources.limits | default dict).memory -}}
{{- if and $memory (not $hasGpus) (not (kindIs "string" .Values.processesPerNode)) -}}
{{- /* PyTorch itself needs a quarter of a GiB. */}}
{{- $each := add (mul $last 2) 268435456 -}}
{{- $needed := mul $each (int64 .Values.processesPerNode) -}}
{{- if gt $needed (include "common.bytes" (dict "name" "resources.limits.memory" "value" $memory) | int64) -}}
{{- $need := printf "%d process(es) that hold sizes.end twice need %dMi" (int64 .Values.processesPerNode) (div $needed 1048576) -}}
{{- fail (printf "resources.limits.memory is %v: %s; raise it, or lower sizes.end" $memory $need) -}}
{{- end -}}
{{- end -}}
{{- end -}}
