{{/*
common.computeDomain: the ComputeDomain that connects the release's nodes by NVLink. Takes the root context.
*/}}
{{- define "common.computeDomain" -}}
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata:
  name: {{ printf "%s-compute-domain" .Release.Name | quote }}
  namespace: {{ .Release.Namespace | quote }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  {{- /* The driver recommends 0: a pod then starts when its own node is ready, without waiting for a number of nodes. */}}
  numNodes: 0
  channel:
    resourceClaimTemplate:
      name: {{ include "common.channelName" . }}
{{- end -}}

{{/* common.channelName: the claim template that the ComputeDomain's controller creates for the release. */}}
{{- define "common.channelName" -}}
{{- printf "%s-compute-domain-channel" .Release.Name -}}
{{- end -}}
