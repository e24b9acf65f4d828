{{/*
The pods of a TrainJob. Trainer finds the container by its name, `node`. Every helper takes what `training-runtimes.job`
takes, unless it says otherwise.
*/}}

{{/*
training-runtimes.pod: a pod template. No token is mounted: the program has no business with the Kubernetes API. The process
namespace is shared so that torchrun is not its process 1: the kernel withholds the default action of SIGTERM from
process 1, and a deleted pod would hold its devices for the whole grace period.
*/}}
{{- define "training-runtimes.pod" -}}
{{- $pod := . -}}
{{- with .root -}}
metadata:
  labels:
    {{- merge (include "common.selectorLabels" . | fromYaml) .Values.podLabels | toYaml | nindent 4 }}
  {{- with merge (.Values.podAnnotations | default dict) (include "common.fabric.annotations" . | fromYaml) }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  restartPolicy: Never
  shareProcessNamespace: true
  {{- $placement := .Values.placement }}
  {{- include "common.pod" (dict
      "pullSecrets" .Values.image.pullSecrets
      "priorityClassName" $placement.priorityClassName
      "schedulerName" (include "training-runtimes.schedulerName" .)
      "runtimeClassName" $placement.runtimeClassName
      "securityContext" .Values.podSecurityContext
      "nodeSelector" $placement.nodeSelector
      "tolerations" $placement.tolerations
      "affinity" (include "common.nodeAffinity" . | fromYaml)
      "topologySpreadConstraints" (include "training-runtimes.spread" . | fromYaml).constraints) | nindent 2 }}
  {{- with include "common.fabric.pod" . | trim }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- $check := ternary (include "training-runtimes.preflight" $pod) "" (eq (include "training-runtimes.hasPreflight" $pod) "true") }}
  {{- /* The daemon of the fabric keeps running, and the check uses it. */}}
  {{- with list (include "common.fabric.daemon" . | trim) ($check | trim) | compact }}
  initContainers:
    {{- range . }}
    {{- . | nindent 4 }}
    {{- end }}
  {{- end }}
  containers:
    {{- include "training-runtimes.container" $pod | nindent 4 }}
  volumes:
    {{- include "training-runtimes.volumes" $pod | trim | nindent 4 }}
{{- end -}}
{{- end -}}

{{/* training-runtimes.schedulerName: the scheduler of the pods; empty for the default one. Takes the root context. */}}
{{- define "training-runtimes.schedulerName" -}}
{{- $gang := .Values.scheduling.gang -}}
{{- $known := dict "volcano" "volcano" "scheduler-plugins" "scheduler-plugins-scheduler" -}}
{{- ternary .Values.placement.schedulerName ($gang.schedulerName | default (get $known $gang.scheduler)) (eq $gang.scheduler "none") -}}
{{- end -}}

{{/*
training-runtimes.spread: {constraints: <topologySpreadConstraints>}. The label of the JobSet keeps the pods of different
TrainJobs apart; an anti-affinity has such a key only from Kubernetes 1.31 on. Takes the root context.
*/}}
{{- define "training-runtimes.spread" -}}
{{- $spread := .Values.placement.spread -}}
{{- if ne $spread "none" -}}
constraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: {{ ternary "DoNotSchedule" "ScheduleAnyway" (eq $spread "required") }}
    nodeTaintsPolicy: Honor
    labelSelector:
      matchLabels:
        {{- include "common.selectorLabels" . | nindent 8 }}
    matchLabelKeys: [jobset.sigs.k8s.io/jobset-name]
{{- end -}}
{{- end -}}

{{/* training-runtimes.container: the one container. The SDK writes the user's function into the working folder. */}}
{{- define "training-runtimes.container" -}}
{{- $pod := . -}}
{{- with .root -}}
{{- $resources := dict -}}
{{- include "common.podResources" (dict "root" . "into" $resources) -}}
- name: node
  image: {{ include "common.image" (dict "image" .Values.image "root" .) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
  workingDir: /workspace
  terminationMessagePolicy: FallbackToLogsOnError
  {{- if eq $pod.role "sshd" }}
  command:
    {{- include "training-runtimes.sshd" . | nindent 4 }}
  startupProbe:
    tcpSocket:
      port: 2222
    periodSeconds: 1
    failureThreshold: 60
  {{- else }}
  {{- range $field := list "command" "args" }}
  {{- with get $pod.runtime $field }}
  {{ $field }}:
    {{- range . }}
    - {{ include "common.literal" . }}
    {{- end }}
  {{- end }}
  {{- end }}
  {{- end }}
  env:
    {{- include "training-runtimes.env" $pod | trim | nindent 4 }}
  resources:
    {{- include "common.resources" (dict "root" . "resources" $resources "isNode" true) | trim | nindent 4 }}
  {{- $security := deepCopy (.Values.securityContext | default dict) }}
  {{- if and (eq $pod.role "sshd") $security.capabilities }}
  {{- /* Some images mark sshd with this file capability, and the kernel starts such a file only where it may be had. */}}
  {{- $_ := set $security.capabilities "add" (append ($security.capabilities.add | default list) "NET_BIND_SERVICE" | uniq) }}
  {{- end }}
  {{- with include "common.fabric.security" (dict "root" . "security" $security) | fromYaml }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    {{- include "training-runtimes.mounts" $pod | trim | nindent 4 }}
{{- end -}}
{{- end -}}
