{{/*
gpu-rdma-policy.checkOperators: fails if NVIDIA's charts, as dependencies of this release, would conflict with it or
with each other. Takes (dict "gpu" <true if there is a ClusterPolicy> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.checkOperators" -}}
{{- $values := .root.Values -}}
{{- $release := .root.Release -}}
{{- $operators := dict "gpu" (get $values "gpu-operator") "network" (get $values "network-operator") -}}
{{- if and $operators.gpu.enabled .gpu (dig "clusterPolicy" "deployCR" true $operators.gpu) -}}
{{- fail "gpu-operator.clusterPolicy.deployCR: this chart creates the ClusterPolicy, and a cluster may have one; write false" -}}
{{- end -}}
{{- if and $operators.gpu.enabled (dig "nfd" "enabled" true $operators.gpu)
    $operators.network.enabled (dig "nfd" "enabled" true $operators.network) -}}
{{- fail "network-operator.nfd.enabled: the GPU operator's chart installs Node Feature Discovery too; write false" -}}
{{- end -}}
{{- range $name, $operator := $operators -}}
{{- $namespace := (get $values $name).namespace -}}
{{- if and $operator.enabled (ne $namespace $release.Namespace) -}}
{{- $place := printf "%s-operator is a dependency of this release, whose namespace is %s" $name $release.Namespace -}}
{{- fail (printf "%s.namespace is %s: %s; write the same namespace" $name $namespace $place) -}}
{{- end -}}
{{- end -}}
{{- end -}}
