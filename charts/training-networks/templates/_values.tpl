{{/* training-networks.checkValues: fails for values with which nothing would be installed as its author meant. */}}
{{- define "training-networks.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "multus" "multus.enabled" "multus.image"
    "multus.cniVersion" "multus.namespaceIsolation" "multus.logLevel" "multus.metrics"
    "multus.metrics.port" "multus.resources" "whereabouts" "whereabouts.enabled" "whereabouts.image"
    "whereabouts.reconcile" "whereabouts.resources" "nvIpam" "nvIpam.namespace" "nodePaths" "nodePaths.config"
    "nodePaths.programs" "serviceAccount" "maxUnavailable" "podMonitor")) -}}
{{- range $part := list "multus" "whereabouts" -}}
{{- $image := (get $.Values $part).image -}}
{{- if not (or $image.tag $image.digest) -}}
{{- fail (printf "%s.image.tag is empty: name a tag or a digest" $part) -}}
{{- end -}}
{{- end -}}
{{- include "training-networks.checkNamespace" . -}}
{{- end -}}

{{/*
training-networks.checkNamespace: fails where no pod of Multus or Whereabouts would be admitted. The release's namespace
is looked up: there is none yet where `--create-namespace` makes it, and where nothing is installed.
*/}}
{{- define "training-networks.checkNamespace" -}}
{{- $label := "pod-security.kubernetes.io/enforce" -}}
{{- $namespace := .Release.Namespace -}}
{{- $found := lookup "v1" "Namespace" "" $namespace | default dict -}}
{{- $level := dig "metadata" "labels" $label "privileged" $found -}}
{{- if and (ne $level "privileged") (or .Values.multus.enabled .Values.whereabouts.enabled) -}}
{{- $advice := printf "kubectl label --overwrite namespace %s %s=privileged" $namespace $label -}}
{{- fail (printf "namespace %s enforces Pod Security %s, and Multus needs privileged: %s" $namespace $level $advice) -}}
{{- end -}}
{{- end -}}
