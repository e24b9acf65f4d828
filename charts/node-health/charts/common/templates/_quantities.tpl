{{/*
common.bytes: a quantity of memory or storage in bytes, as an integer's text. Takes (dict "name" <dotted key> "value"
<number or text>). Kubernetes accepts more notations (`1.5Gi`, `1e9`, `100m`); they are refused here, because template
arithmetic is exact for integers only.
*/}}
{{- define "common.bytes" -}}
{{- $text := ternary .value (toJson .value) (kindIs "string" .value) -}}
{{- $factors := dict "" 1 "k" 1000 "M" 1000000 "G" 1000000000 "T" 1000000000000 "P" 1000000000000000
    "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 -}}
{{- $advice := "write a whole number of bytes, or with one of Ki, Mi, Gi, Ti, Pi, k, M, G, T, P, e.g. 1536Mi" -}}
{{- if not (regexMatch "^(0|[1-9][0-9]{0,17})([KMGTP]i|[kMGTP])?$" $text) -}}
{{- fail (printf "%s is %s, which the chart cannot calculate with: %s" .name $text $advice) -}}
{{- end -}}
{{- $suffix := "" -}}
{{- range $one := keys $factors | sortAlpha -}}
{{- if and $one (hasSuffix $one $text) -}}
{{- $suffix = $one -}}
{{- end -}}
{{- end -}}
{{- $count := trimSuffix $suffix $text | int64 -}}
{{- $factor := get $factors $suffix | int64 -}}
{{- if gt $count (div 9223372036854775807 $factor) -}}
{{- fail (printf "%s is %s, which is more than a 64-bit number of bytes holds" .name $text) -}}
{{- end -}}
{{- mul $count $factor -}}
{{- end -}}
