{{/*
Names of a release's objects and of its image. Every helper takes the root context unless it says otherwise.
*/}}

{{/*
common.name: the chart's name, the value of app.kubernetes.io/name. Helm names a subchart by its alias, so such a chart
declares its own name in the annotation `trainyard/name`, and monitors find its objects.
*/}}
{{- define "common.name" -}}
{{- index (.Chart.Annotations | default dict) "trainyard/name" | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/*
common.fullname: the prefix of a release's objects: `fullnameOverride`, or the release name when it already contains
the chart's name, or `<release>-<chart>`. Cut at 63 characters, the length of a DNS label.
*/}}
{{- define "common.fullname" -}}
{{- $override := .Values.fullnameOverride | default "" -}}
{{- $name := include "common.name" . -}}
{{- $derived := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{- $override | default $derived | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{/*
common.image: the image reference. Takes (dict "image" <values> "root" <root context>), where values hold `repository`
and optionally `digest` or `tag`. A digest takes precedence over a tag because a digest cannot move; without either the
tag is the chart's appVersion.
*/}}
{{- define "common.image" -}}
{{- $advice := "image.repository is empty: name an image, e.g. registry.example.com/team/trainer" -}}
{{- $repository := required $advice .image.repository -}}
{{- if .image.digest -}}
{{- printf "%s@%s" $repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
