{{/*
common.computeDomain: the ComputeDomain that connects the release's nodes by NVLink. Takes the root context.
*/}}
{{- define "common.computeDomain" -}}
apiVersion: resource.nvidia.com/v1beta1
kind: ComputeDomain
metadata:
  name: {{ .Release.Name }}-compute-domain
  namespace: {{ .Release.Namespace }}
  labels:
    {{- include "common.labels" . | nindent 4 }}
spec:
  {{- /* The driver recommends 0: it then waits for no number of nodes and starts a pod when its own node is ready. */}}
  numNodes: 0
  channel:
    resourceClaimTemplate:
      name: {{ include "common.channelName" . }}
{{- end -}}

{{/* common.channelName: the claim template that the ComputeDomain's controller makes for the release. */}}
{{- define "common.channelName" -}}
{{- printf "%s-compute-domain-channel" .Release.Name -}}
{{- end -}}
