{{/*
gpu-rdma-policy.labels: the labels of a location, as YAML. Takes (dict "place" <level to value> "hosts" <text> "root"
<root context>).
*/}}
{{- define "gpu-rdma-policy.labels" -}}
{{- $keys := .root.Values.topology.keys -}}
{{- range $level, $value := .place }}
{{- $key := get $keys $level }}
{{- if not $key }}
{{- fail (printf "topology.nodes: %s: place.%s: topology.keys has only %s; write one of them, or add a label key" $.hosts
    $level (keys $keys | sortAlpha | join ", ")) }}
{{- end }}
{{- if regexMatch "(^|[.])kubernetes[.]io/" $key }}
{{- if not (regexMatch "(^|[.])(feature|profile)[.]node[.]kubernetes[.]io/" $key) }}
{{- fail (printf "topology.keys.%s: Node Feature Discovery does not set labels of kubernetes.io; write another key" $level) }}
{{- end }}
{{- end }}
{{ $key }}: {{ $value | quote }}
{{- end }}
{{- end -}}
