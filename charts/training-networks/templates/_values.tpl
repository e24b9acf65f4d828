{{/* training-networks.checkValues: fails for values with which nothing would be installed as its author meant. */}}
{{- define "training-networks.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "networks" "multus" "multus.enabled"
    "multus.image" "multus.cniVersion" "multus.namespaceIsolation" "multus.logLevel" "multus.metrics"
    "multus.metrics.port" "multus.resources" "whereabouts" "whereabouts.enabled" "whereabouts.image"
    "whereabouts.reconcile" "whereabouts.resources" "nvIpam" "nvIpam.namespace" "nodePaths" "nodePaths.config"
    "nodePaths.programs" "serviceAccount" "maxUnavailable" "podMonitor")) -}}
{{- range $part := list "multus" "whereabouts" -}}
{{- $image := (get $.Values $part).image -}}
{{- if not (or $image.tag $image.digest) -}}
{{- fail (printf "%s.image.tag is empty: name a tag or a digest" $part) -}}
{{- end -}}
{{- end -}}
{{- end -}}
