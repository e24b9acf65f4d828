{{/* training-monitoring.metadata: metadata of an object. Takes (dict "name" <suffix> "labels" <more labels> "root" <root context>). */}}
{{- define "training-monitoring.metadata" -}}
name: {{ include "common.fullname" .root | trunc 50 | trimSuffix "-" }}-{{ .name }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- merge (include "common.labels" .root | fromYaml) (.labels | default dict) | toYaml | nindent 2 }}
{{- end -}}

{{/* training-monitoring.namespaces: the namespace selector of a monitor. Takes a list of namespaces, empty for all. */}}
{{- define "training-monitoring.namespaces" -}}
{{- if . -}}
matchNames:
  {{- toYaml . | nindent 2 }}
{{- else -}}
any: true
{{- end -}}
{{- end -}}

{{/*
training-monitoring.serves: not empty if the cluster serves monitors and rules, and the given part of the values is
enabled. Takes (dict "part" <values with enabled> "root" <root context>).
*/}}
{{- define "training-monitoring.serves" -}}
{{- include "training-monitoring.checkValues" .root -}}
{{- if and .part.enabled (.root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1") -}}true{{- end -}}
{{- end -}}
