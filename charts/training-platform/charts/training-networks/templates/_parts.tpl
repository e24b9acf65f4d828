{{/*
Helpers of Multus and Whereabouts. Each is a DaemonSet with a ServiceAccount and a ClusterRole of the same name. Helpers
take (dict "part" <multus or whereabouts> "root" <root context>).
*/}}

{{/* training-networks.partName: the name of a part's objects. */}}
{{- define "training-networks.partName" -}}
{{ include "common.fullname" .root | trunc 50 | trimSuffix "-" }}-{{ .part }}
{{- end -}}

{{/* training-networks.partMetadata: the metadata of a part's objects in the release's namespace. */}}
{{- define "training-networks.partMetadata" -}}
name: {{ include "training-networks.partName" . }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "training-networks.labels" . | nindent 2 }}
{{- end -}}

{{/* training-networks.labels: the labels of a part's objects. */}}
{{- define "training-networks.labels" -}}
{{ include "common.labels" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/* training-networks.partSelector: the selector labels of a part's pods. */}}
{{- define "training-networks.partSelector" -}}
{{ include "common.selectorLabels" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/* training-networks.partPod: the pod fields that the values set for all parts. */}}
{{- define "training-networks.partPod" -}}
{{- $pod := pick .root.Values "priorityClassName" "nodeSelector" "tolerations" -}}
{{- $image := (get .root.Values .part).image -}}
{{- include "common.pod" (set $pod "pullSecrets" $image.pullSecrets) -}}
{{- end -}}

{{/* training-networks.partImage: the image of a part and its pull policy. */}}
{{- define "training-networks.partImage" -}}
{{- $image := (get .root.Values .part).image -}}
image: {{ include "common.image" (dict "image" $image "root" .root) | quote }}
imagePullPolicy: {{ $image.pullPolicy | quote }}
{{- end -}}

{{/*
training-networks.installer: the security context of containers that write to the nodes' directories, which root owns.
*/}}
{{- define "training-networks.installer" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsUser: 0
capabilities:
  drop: [ALL]
  add: [DAC_OVERRIDE]
seccompProfile:
  type: RuntimeDefault
{{- end -}}
