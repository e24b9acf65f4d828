{{/* What the objects of all operators have in common. */}}

{{/* gpu-rdma-policy.metadata: labels of an object and whether it outlives the release. Takes the root context. */}}
{{- define "gpu-rdma-policy.metadata" -}}
labels:
  {{- include "common.labels" . | nindent 2 }}
{{- if .Values.keep }}
annotations:
  helm.sh/resource-policy: keep
{{- end }}
{{- end -}}

{{/*
gpu-rdma-policy.requireApi: fails on a cluster that does not know a kind, with what to install. Where no cluster
answers, as under `helm template`, all is rendered. Takes (dict "api" <group/version/Kind> "from" <what brings it>
"without" <value that does without> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.requireApi" -}}
{{- if not (.root.Capabilities.APIVersions.Has .api) -}}
{{- if lookup "v1" "Namespace" "" "kube-system" -}}
{{- fail (printf "the cluster does not know %s: install %s first, or write %s" .api .from .without) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
gpu-rdma-policy.image: an image of `images` in the three fields in which the operators want it. Takes (dict "name" <key
of images> "image" <in place of that value> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.image" -}}
{{- $images := .root.Values.images -}}
{{- if not $images.registry -}}
{{- $advice := "name the registry that has NVIDIA's images, e.g. registry.example.com" -}}
{{- fail (printf "images.registry is empty, and the operators have no images of their own; %s" $advice) -}}
{{- end -}}
{{- $parts := regexFind "^[^:@]+" (.image | default (get $images .name)) | splitList "/" -}}
{{- $version := regexFind "[:@].*$" (.image | default (get $images .name)) -}}
repository: {{ prepend (initial $parts) (trimSuffix "/" $images.registry) | join "/" | quote }}
image: {{ last $parts | quote }}
version: {{ substr 1 (len $version) $version | quote }}
{{- with $images.pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
