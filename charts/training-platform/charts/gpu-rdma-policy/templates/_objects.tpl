{{/* Helpers for the objects of all operators. */}}

{{/* gpu-rdma-policy.metadata: labels of an object, and the annotation that keeps it after an uninstall. Takes the root
context. */}}
{{- define "gpu-rdma-policy.metadata" -}}
labels:
  {{- include "common.labels" . | nindent 2 }}
{{- if .Values.keep }}
annotations:
  helm.sh/resource-policy: keep
{{- end }}
{{- end -}}

{{/*
gpu-rdma-policy.requireApi: fails if the cluster does not serve a kind, and names what to install. Without a cluster, as
under `helm template`, everything is rendered. Takes (dict "api" <group/version/Kind> "from" <what provides it>
"without" <value that avoids it> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.requireApi" -}}
{{- if not (.root.Capabilities.APIVersions.Has .api) -}}
{{- if lookup "v1" "Namespace" "" "kube-system" -}}
{{- fail (printf "the cluster does not serve %s: install %s first, or write %s" .api .from .without) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
gpu-rdma-policy.image: an image of `images` as the three fields that the operators expect. Takes (dict "name" <key
of images> "image" <in place of that value> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.image" -}}
{{- $images := .root.Values.images -}}
{{- if not $images.registry -}}
{{- $advice := "write the registry that provides NVIDIA's images, e.g. registry.example.com" -}}
{{- fail (printf "images.registry is empty, and the operators have no default images; %s" $advice) -}}
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
