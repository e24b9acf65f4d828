{{/*
gpu-rdma-policy.labels: the labels of a place, as YAML. Takes (dict "place" <level to value> "hosts" <text> "root" <root
context>).
*/}}
{{- define "gpu-rdma-policy.labels" -}}
{{- $keys := .root.Values.topology.keys -}}
{{- range $level, $value := .place }}
{{- $key := get $keys $level }}
{{- if not $key }}
{{- fail (printf "topology.nodes: %s: place.%s: topology.keys has %s; write one of them, or add its label key" $.hosts
    $level (keys $keys | sortAlpha | join ", ")) }}
{{- end }}
{{- if regexMatch "(^|[.])kubernetes[.]io/" $key }}
{{- if not (regexMatch "(^|[.])(feature|profile)[.]node[.]kubernetes[.]io/" $key) }}
{{- fail (printf "topology.keys.%s: Node Feature Discovery does not set labels of kubernetes.io; write a key of your own" $level) }}
{{- end }}
{{- end }}
{{ $key }}: {{ $value | quote }}
{{- end }}
{{- end -}}
