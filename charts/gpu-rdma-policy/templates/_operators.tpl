{{/*
gpu-rdma-policy.checkOperators: fails where NVIDIA's charts, as parts of this release, would work against it or each other.
Takes (dict "gpu" <whether there is a ClusterPolicy> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.checkOperators" -}}
{{- $values := .root.Values -}}
{{- $release := .root.Release -}}
{{- $operators := dict "gpu" (get $values "gpu-operator") "network" (get $values "network-operator") -}}
{{- if and $operators.gpu.enabled .gpu (dig "clusterPolicy" "deployCR" true $operators.gpu) -}}
{{- fail "gpu-operator.clusterPolicy.deployCR: the ClusterPolicy is made here, and the operator takes one; write false" -}}
{{- end -}}
{{- if and $operators.gpu.enabled (dig "nfd" "enabled" true $operators.gpu)
    $operators.network.enabled (dig "nfd" "enabled" true $operators.network) -}}
{{- fail "network-operator.nfd.enabled: Node Feature Discovery is in the GPU operator's chart, too; write false" -}}
{{- end -}}
{{- range $name, $operator := $operators -}}
{{- $namespace := (get $values $name).namespace -}}
{{- if and $operator.enabled (ne $namespace $release.Namespace) -}}
{{- $place := printf "%s-operator is a part of this release, whose namespace is %s" $name $release.Namespace -}}
{{- fail (printf "%s.namespace is %s: %s; write that" $name $namespace $place) -}}
{{- end -}}
{{- end -}}
{{- end -}}
