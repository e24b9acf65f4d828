{{/*
training-job.pod: the pod template of a role, with `podTemplate` merged into it. Takes a dict: `root` is the root
context, `role` and `part` are the key and the value of a role in `training-job.roles`.
*/}}
{{- define "training-job.pod" -}}
{{- $text := include "training-job.ownPod" . -}}
{{- $over := .root.Values.podTemplate -}}
{{- if $over -}}
{{- $pod := fromYaml $text -}}
{{- include "common.overlay" (dict "base" $pod "over" $over) -}}
{{- include "training-job.checkContainers" (dict "pod" $pod "root" .root) -}}
{{- toYaml $pod -}}
{{- else -}}
{{- $text -}}
{{- end -}}
{{- end -}}

{{/*
training-job.ownPod: the pod template of a role, from the values of the chart. The nodes of a run differ in nothing but what the operator adds, so that
any pod can take any rank. No token is mounted: the program has no business with the Kubernetes API, but the launcher of
an MPIJob v1 reaches the Workers through it. The process namespace is shared so that torchrun is not its process 1:
until it has met its peers it leaves SIGTERM to the default action, which the kernel withholds from process 1, and a
deleted pod would hold its devices for the whole grace period. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.ownPod" -}}
{{- $pod := . -}}
{{- with .root -}}
metadata:
  labels:
    {{- merge (include "common.selectorLabels" . | fromYaml) .Values.podLabels | toYaml | nindent 4 }}
  {{- $topology := ternary (include "training-job.topologyAnnotations" . | fromYaml) (dict) $pod.part.node }}
  {{- $fabric := ternary (include "common.fabric.annotations" . | fromYaml) (dict) $pod.part.node }}
  {{- $protection := include "training-job.protectionAnnotations" . | fromYaml }}
  {{- with merge $topology (.Values.podAnnotations | default dict) $fabric $protection }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  {{- $needsToken := and (eq $pod.role "Launcher") (eq (include "training-job.mpiVersion" .) "kubeflow.org/v1") }}
  {{- /* Of an MPIJob v1 the operator makes an account for the launcher, which may reach the Workers. */}}
  {{- with ternary "" (include "training-job.serviceAccountName" .) $needsToken }}
  serviceAccountName: {{ . | quote }}
  {{- end }}
  automountServiceAccountToken: {{ $needsToken }}
  {{- with include "training-job.podRestartPolicy" . }}
  restartPolicy: {{ . }}
  {{- end }}
  shareProcessNamespace: true
  {{- $placement := .Values.placement }}
  {{- include "common.pod" (dict
      "pullSecrets" .Values.image.pullSecrets
      "priorityClassName" $placement.priorityClassName
      "schedulerName" (include "training-job.schedulerName" .)
      "runtimeClassName" $placement.runtimeClassName
      "terminationGracePeriodSeconds" (include "training-job.grace" . | fromYaml).terminationGracePeriodSeconds
      "securityContext" (include "training-job.podSecurityContext" . | fromYaml)
      "nodeSelector" $placement.nodeSelector
      "tolerations" $placement.tolerations
      "affinity" (include "training-job.affinity" $pod | fromYaml)
      "topologySpreadConstraints" (include "training-job.topologySpread" $pod | fromYaml).constraints) | nindent 2 }}
  {{- with ternary (include "common.fabric.pod" .) "" $pod.part.node }}
  {{- trim . | nindent 2 }}
  {{- end }}
  {{- with ternary (include "training-job.initContainers" . | trim) "" $pod.part.node }}
  initContainers:
    {{- . | nindent 4 }}
  {{- end }}
  containers:
    {{- include "training-job.container" $pod | nindent 4 }}
  volumes:
    {{- include "training-job.volumes" $pod | nindent 4 }}
    {{- with ternary (include "common.fabric.volumes" .) "" $pod.part.node }}
    {{- trim . | nindent 4 }}
    {{- end }}
{{- end -}}
{{- end -}}

{{/*
training-job.initContainers: what runs before the program and what runs beside it, as a YAML list. Takes the root
context.
*/}}
{{- define "training-job.initContainers" -}}
{{- include "training-job.userContainers" (dict "root" . "containers" .Values.sidecars "restartPolicy" "Always") }}
{{ include "training-job.datasetContainer" . }}
{{ include "training-job.userContainers" (dict "root" . "containers" .Values.initContainers) | trim }}
{{ include "common.fabric.daemon" . | trim }}
{{ include "training-job.tensorboard" . }}
{{- end -}}

{{/*
training-job.container: the one container. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.container" -}}
{{- $pod := . -}}
{{- with .root -}}
{{- $kind := include "training-job.kind" . | fromYaml -}}
{{- $resources := .Values -}}
{{- range splitList "." $pod.part.resources -}}
{{- $resources = index $resources . -}}
{{- end -}}
{{- if eq $pod.part.resources "resources" -}}
{{- $resources = dict -}}
{{- include "common.podResources" (dict "root" . "into" $resources) -}}
{{- end -}}
{{- $isSshd := and (eq (include "training-job.operator" .) "mpi-operator") (eq $pod.role "Worker") -}}
- name: {{ $kind.container }}
  image: {{ include "common.image" (dict "image" .Values.image "root" .) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
  {{- /* The operator deletes the pods of a failed run, and their logs with them. The message is in its events. */}}
  terminationMessagePolicy: FallbackToLogsOnError
  {{- with include "training-job.start" $pod | trim }}
  command:
    {{- . | nindent 4 }}
  {{- end }}
  {{- $isSilent := and (eq .Values.kind "MPIJob") (eq $pod.role "Worker") }}
  {{- with ternary "" (include "training-job.args" . | trim) $isSilent }}
  args:
    {{- . | nindent 4 }}
  {{- end }}
  {{- $env := include "training-job.env" . }}
  {{- $launcherEnv := include "training-job.launcherEnv" $pod }}
  {{- if or $env $launcherEnv }}
  env:
    {{- range list $env $launcherEnv }}
    {{- with . }}
    {{- trim . | nindent 4 }}
    {{- end }}
    {{- end }}
  {{- end }}
  {{- with include "training-job.envFrom" . | trim }}
  envFrom:
    {{- . | nindent 4 }}
  {{- end }}
  {{- with include "training-job.ports" $pod | trim }}
  ports:
    {{- . | nindent 4 }}
  {{- end }}
  {{- if $isSshd }}
  {{- include "training-job.sshdProbe" . | nindent 2 }}
  {{- end }}
  resources:
    {{- include "common.resources" (dict "root" . "resources" $resources "isNode" $pod.part.node) | trim | nindent 4 }}
  {{- $sshd := include "training-job.sshdSecurity" . | fromYaml }}
  {{- $security := ternary $sshd .Values.securityContext $isSshd | default dict }}
  {{- if $pod.part.node }}
  {{- $security = include "common.fabric.security" (dict "root" . "security" $security) | fromYaml }}
  {{- end }}
  {{- with $security }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with include "training-job.preStop" . }}
  lifecycle:
    preStop:
      {{- . | nindent 6 }}
  {{- end }}
  volumeMounts:
    {{- include "training-job.checkpointsMount" . | nindent 4 }}
    {{- if include "training-job.hasSharedMemory" $pod }}
    - name: shared-memory
      mountPath: /dev/shm
    {{- end }}
    - name: tmp
      mountPath: /tmp
    {{- with include "training-job.launchMounts" . }}
    {{- trim . | nindent 4 }}
    {{- end }}
    {{- with include "training-job.extraMounts" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with ternary (include "common.fabric.volumeMounts" .) "" $pod.part.node }}
    {{- trim . | nindent 4 }}
    {{- end }}
    {{- with include "training-job.flightRecorderMount" . | trim }}
    {{- . | nindent 4 }}
    {{- end }}
{{- end -}}
{{- end -}}

{{/* training-job.checkpointsMount: where a container finds the checkpoints. Takes the root context. */}}
{{- define "training-job.checkpointsMount" -}}
{{- $subPath := ternary .Values.checkpoints.subPath "" .Values.checkpoints.enabled -}}
{{- include "training-job.mount" (dict "name" "checkpoints" "readOnly" false
    "volume" (dict "mountPath" .Values.checkpoints.mountPath "subPath" $subPath)) -}}
{{- end -}}

{{/*
training-job.volumes: without a claim for checkpoints the folder is still there, and writable under a read-only root, so
that the same program runs; it is empty again in every new pod. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.volumes" -}}
{{- $pod := . -}}
{{- with .root -}}
- name: checkpoints
  {{- if .Values.checkpoints.enabled }}
  persistentVolumeClaim:
    claimName: {{ include "training-job.claimName" . | quote }}
  {{- else }}
  emptyDir: {}
  {{- end }}
{{- if include "training-job.hasSharedMemory" $pod }}
- name: shared-memory
  emptyDir:
    medium: Memory
    sizeLimit: {{ include "common.sharedMemorySize" . | quote }}
{{- end }}
- name: tmp
  emptyDir:
    {{- with .Values.temporaryStorage.size }}
    sizeLimit: {{ . | quote }}
    {{- else }} {}
    {{- end }}
{{- with include "training-job.launchVolumes" . }}
{{ trim . }}
{{- end }}
{{- include "training-job.extraVolumes" . }}
{{- include "training-job.datasetVolumes" . }}
{{- include "training-job.flightRecorderVolume" . }}
{{- end -}}
{{- end -}}

{{/*
training-job.hasSharedMemory: "true" where memory is mounted at /dev/shm: not in a launcher, whose small memory it may
not fit into, and which only starts the others. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.hasSharedMemory" -}}
{{- if and .root.Values.sharedMemory.enabled (or .part.node (ne .role "Launcher")) -}}
true
{{- end -}}
{{- end -}}
