{{/*
training-preflight.selector: the labels of the pods, for the Service and for the anti-affinity between them.
Takes the root context.
*/}}
{{- define "training-preflight.selector" -}}
{{ include "common.selectorLabels" . }}
app.kubernetes.io/component: preflight
{{- end -}}

{{/*
training-preflight.affinity: `placement.affinity` with the rules of `nodes` and `healthLabels`, and one node per pod.
Takes the root context.
*/}}
{{- define "training-preflight.affinity" -}}
{{- $affinity := include "common.nodeAffinity" . | fromYaml -}}
{{- $selector := dict "matchLabels" (include "training-preflight.selector" . | fromYaml) -}}
{{- $term := dict "labelSelector" $selector "topologyKey" "kubernetes.io/hostname" -}}
{{- $_ := set $affinity "podAntiAffinity" (include "common.podRule" (dict "term" $term "mode" "required") | fromYaml) -}}
{{- toYaml $affinity -}}
{{- end -}}

{{/* training-preflight.pod: the pod template, the same for all nodes. Takes the root context. */}}
{{- define "training-preflight.pod" -}}
{{- $placement := .Values.placement -}}
metadata:
  labels:
    {{- merge (include "training-preflight.selector" . | fromYaml) .Values.podLabels | toYaml | nindent 4 }}
  {{- with merge (.Values.podAnnotations | default dict) (include "common.fabric.annotations" . | fromYaml) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  restartPolicy: Never
  subdomain: {{ include "training-preflight.name" . | quote }}
  {{- /* torchrun must not be process 1, for which the kernel disables the default action of a signal. */}}
  shareProcessNamespace: true
  {{- include "common.pod" (dict
      "pullSecrets" .Values.image.pullSecrets
      "priorityClassName" $placement.priorityClassName
      "schedulerName" $placement.schedulerName
      "runtimeClassName" $placement.runtimeClassName
      "securityContext" .Values.podSecurityContext
      "nodeSelector" $placement.nodeSelector
      "tolerations" $placement.tolerations
      "affinity" (include "training-preflight.affinity" . | fromYaml)) | nindent 2 }}
  {{- with include "common.fabric.pod" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with include "common.fabric.daemon" . | trim }}
  initContainers:
    {{- . | nindent 4 }}
  {{- end }}
  containers:
    {{- include "training-preflight.container" . | nindent 4 }}
  volumes:
    - name: preflight
      configMap:
        name: {{ include "training-preflight.name" . | quote }}
    {{- if .Values.ncclTests.enabled }}
    - name: key
      secret:
        secretName: {{ include "training-preflight.name" . | quote }}
    {{- end }}
    - name: tmp
      emptyDir:
        sizeLimit: 1Gi
    {{- if .Values.sharedMemory.enabled }}
    - name: shared-memory
      emptyDir:
        medium: Memory
        sizeLimit: {{ include "common.sharedMemorySize" . | quote }}
    {{- end }}
    {{- with include "common.fabric.volumes" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* training-preflight.container: the one container. Takes the root context. */}}
{{- define "training-preflight.container" -}}
- name: preflight
  image: {{ include "common.image" (dict "image" .Values.image "root" .) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
  {{- include "training-preflight.command" . | nindent 2 }}
  env:
    {{- with include "common.env" (dict "env" (include "common.fabric.variables" . | fromYaml)) | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with include "common.env" (dict "env" .Values.env "secrets" .Values.envSecrets) | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    - {{ include "common.preflight.nodeName" . | nindent 6 | trim }}
  ports:
    - name: torchrun
      containerPort: {{ int64 .Values.torchrun.port }}
    {{- if .Values.ncclTests.enabled }}
    - name: mpirun
      containerPort: {{ int64 .Values.ncclTests.port }}
    {{- end }}
  resources:
    {{- include "common.resources" (dict "root" . "resources" .Values.resources "isNode" true) | trim | nindent 4 }}
  {{- with include "common.fabric.security" (dict "root" . "security" (.Values.securityContext | default dict)) | fromYaml }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  terminationMessagePolicy: FallbackToLogsOnError
  volumeMounts:
    - name: preflight
      mountPath: /preflight
      readOnly: true
    {{- if .Values.ncclTests.enabled }}
    - name: key
      mountPath: /preflight-key
      readOnly: true
    {{- end }}
    - name: tmp
      mountPath: /tmp
    {{- if .Values.sharedMemory.enabled }}
    - name: shared-memory
      mountPath: /dev/shm
    {{- end }}
    {{- with include "common.fabric.volumeMounts" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/* training-preflight.command: {command, args} of the container. Takes the root context. */}}
{{- define "training-preflight.command" -}}
{{- $options := dict "start-seconds" (int64 .Values.startTimeoutSeconds) "warm-up" (int64 .Values.warmUp)
    "iterations" (int64 .Values.iterations) "size-factor" (int64 .Values.sizes.factor)
    "first-size" (include "training-preflight.firstSize" .) "last-size" (include "training-preflight.lastSize" .) -}}
{{- with (include "training-preflight.threshold" . | fromYaml).busBandwidth -}}
{{- $_ := set $options "min-bus-bandwidth" (toJson .) -}}
{{- end -}}
{{- if not (kindIs "invalid" .Values.slowRatio) -}}
{{- $_ := set $options "slow-ratio" (toJson .Values.slowRatio) -}}
{{- end -}}
{{- with .Values.placement.nodes.allow -}}
{{- $_ := set $options "expect" (join "," .) -}}
{{- end -}}
{{- if .Values.ncclTests.enabled -}}
{{- /* Kubernetes would expand each $(NAME) in an argument. */}}
{{- $_ := set $options "nccl-tests" (toRawJson .Values.ncclTests.command | replace "$" "$$") -}}
{{- $_ := set $options "run-by" (toRawJson .Values.ncclTests.mpirun | replace "$" "$$") -}}
{{- $_ := set $options "call-port" (int64 .Values.ncclTests.port) -}}
{{- $_ := set $options "call-key" "/preflight-key/key" -}}
{{- end -}}
{{- include "common.preflight.command" (dict "root" . "name" (include "training-preflight.name" .)
    "nodes" .Values.nodes "options" $options) -}}
{{- end -}}
