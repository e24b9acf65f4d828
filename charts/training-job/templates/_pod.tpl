{{/*
training-job.pod: the pod template of the Master and of every Worker. They differ in nothing but what the operator adds,
so that any pod can take any rank. No token is mounted: the program has no business with the Kubernetes API. The process
namespace is shared so that torchrun is not its process 1: until it has met its peers it leaves SIGTERM to the default
action, which the kernel withholds from process 1, and a deleted pod would hold its devices for the whole grace period.
Takes the root context.
*/}}
{{- define "training-job.pod" -}}
metadata:
  labels:
    {{- merge (include "common.selectorLabels" . | fromYaml) .Values.podLabels | toYaml | nindent 4 }}
  {{- $topology := include "training-job.topologyAnnotations" . | fromYaml }}
  {{- with merge $topology (.Values.podAnnotations | default dict) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  shareProcessNamespace: true
  {{- $placement := .Values.placement }}
  {{- include "common.pod" (dict
      "pullSecrets" .Values.image.pullSecrets
      "priorityClassName" $placement.priorityClassName
      "schedulerName" (include "training-job.schedulerName" .)
      "runtimeClassName" $placement.runtimeClassName
      "terminationGracePeriodSeconds" (include "training-job.grace" . | fromYaml).terminationGracePeriodSeconds
      "securityContext" .Values.podSecurityContext
      "nodeSelector" $placement.nodeSelector
      "tolerations" $placement.tolerations
      "affinity" (include "training-job.affinity" . | fromYaml)
      "topologySpreadConstraints" (include "training-job.topologySpread" . | fromYaml).constraints) | nindent 2 }}
  containers:
    {{- include "training-job.container" . | nindent 4 }}
  volumes:
    {{- include "training-job.volumes" . | nindent 4 }}
{{- end -}}

{{/*
training-job.container: the one container. The operator finds it by the name `pytorch` and its port by the name
`pytorchjob-port`; other names are refused or left without a rendezvous.
*/}}
{{- define "training-job.container" -}}
- name: pytorch
  image: {{ include "common.image" (dict "image" .Values.image "root" .) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
  command:
    {{- include "training-job.command" . | trim | nindent 4 }}
  args:
    {{- include "training-job.args" . | trim | nindent 4 }}
  {{- with include "training-job.env" . }}
  env:
    {{- trim . | nindent 4 }}
  {{- end }}
  ports:
    - name: pytorchjob-port
      containerPort: {{ .Values.torchrun.port }}
  {{- $limits := .Values.resources.limits | default dict }}
  {{- $requests := .Values.resources.requests | default dict }}
  resources:
    limits:
      {{- toYaml $limits | nindent 6 }}
    requests:
      {{- merge (deepCopy $requests) $limits | toYaml | nindent 6 }}
  {{- with .Values.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "training-job.preStop" . }}
  lifecycle:
    preStop:
      {{- . | nindent 6 }}
  {{- end }}
  volumeMounts:
    - name: checkpoints
      mountPath: {{ .Values.checkpoints.mountPath | quote }}
    {{- if .Values.sharedMemory.enabled }}
    - name: shared-memory
      mountPath: /dev/shm
    {{- end }}
    - name: tmp
      mountPath: /tmp
    {{- with include "training-job.launchMounts" . }}
    {{- trim . | nindent 4 }}
    {{- end }}
{{- end -}}

{{/*
training-job.volumes: without a claim for checkpoints the folder is still there, and writable under a read-only root, so
that the same program runs; it is empty again in every new pod.
*/}}
{{- define "training-job.volumes" -}}
- name: checkpoints
  {{- if .Values.checkpoints.enabled }}
  persistentVolumeClaim:
    claimName: {{ include "training-job.claimName" . | quote }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- if .Values.sharedMemory.enabled }}
- name: shared-memory
  emptyDir:
    medium: Memory
    sizeLimit: {{ .Values.sharedMemory.size | quote }}
{{- end }}
- name: tmp
  emptyDir:
    sizeLimit: {{ .Values.temporaryStorage.size | quote }}
{{- with include "training-job.launchVolumes" . }}
{{ trim . }}
{{- end }}
{{- end -}}
