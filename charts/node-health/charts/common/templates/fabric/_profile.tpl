{{/*
A fabric profile is data: files/fabric/<profile>.yaml of this chart. `trainyard lint` reads the same file. Its keys:

title, source:  the fabric, and the document that its settings come from
env:            variables that the chart sets, by the linter's finding for a run without them: `required`, `recommended`,
                or `added`, for which it has none. The chart does not set one that is null.
anyValue:       variables that may have any value, because it differs from site to site
forbidden:      variables that the linter refuses, each with `why`
resources:      extended resources of a pod, each with its `quantity`: a number, or `perRail`. With `why` the linter
                requires it, and also accepts the name in `accepts` (or all names with this prefix, if it ends in "/").
needs:          settings that the values must provide, `topologyFile` or `interface`, with the message if they do not
capabilities, annotations, networks (items as in the values), networksAnnotation (default: that of Multus), rails,
mounts, sidecar (a container) and sidecarVolumes: parts of the pod

common.fabric: the profile of the values as YAML, nothing for `none`, which has no file. Takes the root context.
*/}}
{{- define "common.fabric" -}}
{{- .Subcharts.common.Files.Get (printf "files/fabric/%s.yaml" .Values.fabric.profile) -}}
{{- end -}}

{{/* common.fabric.checkNeeds: fails if the values lack the settings of the profile that only the site knows. */}}
{{- define "common.fabric.checkNeeds" -}}
{{- $values := .Values -}}
{{- $fabric := .Values.fabric -}}
{{- range $need, $advice := (include "common.fabric" . | fromYaml).needs -}}
{{- $given := false -}}
{{- if eq $need "topologyFile" -}}
{{- $given = not (empty $fabric.topologyFile.configMap) -}}
{{- range $source := list $fabric.env $values.nccl $values.env $values.envSecrets -}}
{{- $given = or $given (hasKey $source "NCCL_TOPO_FILE") -}}
{{- end -}}
{{- else -}}
{{- $given = or $fabric.networks $fabric.hostNetwork $values.resourceClaims -}}
{{- end -}}
{{- if not $given -}}
{{- fail (printf "fabric.profile %s: %s" $fabric.profile $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
