{{/*
training-networks.checkValues: fails for required values that are empty, and for a namespace that refuses the pods.
*/}}
{{- define "training-networks.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "multus" "multus.enabled" "multus.image"
    "multus.cniVersion" "multus.namespaceIsolation" "multus.logLevel" "multus.metrics"
    "multus.metrics.port" "multus.resources" "whereabouts" "whereabouts.enabled" "whereabouts.image"
    "whereabouts.reconcile" "whereabouts.resources" "nvIpam" "nvIpam.namespace" "nodePaths" "nodePaths.config"
    "nodePaths.programs" "serviceAccount" "maxUnavailable" "podMonitor")) -}}
{{- range $part := list "multus" "whereabouts" -}}
{{- $image := (get $.Values $part).image -}}
{{- if not (or $image.tag $image.digest) -}}
{{- fail (printf "%s.image.tag is empty: set %s.image.tag or %s.image.digest" $part $part $part) -}}
{{- end -}}
{{- end -}}
{{- range $name := keys (include "training-networks.partSelector" (dict "part" "multus" "root" $) | fromYaml) | sortAlpha -}}
{{- if hasKey ($.Values.podLabels | default dict) $name -}}
{{- fail (printf "podLabels: %s selects the pods; remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- include "training-networks.checkNamespace" . -}}
{{- end -}}

{{/*
training-networks.checkNamespace: fails if the Pod Security level of the namespace refuses the pods of Multus and
Whereabouts. `lookup` finds no namespace if `--create-namespace` creates it, or under `helm template`.
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
