{{/*
training-job.tensorboard: TensorBoard as a native sidecar, a list item of initContainers, or nothing. The kubelet ends
it when the program has ended, so that the pod ends too (Kubernetes >= 1.29). It is on every node of the run, since they
are all alike. It sees no GPU: an image of CUDA's asks for all of them, and a runtime may grant that to a container
without a limit. Takes the root context.
*/}}
{{- define "training-job.tensorboard" -}}
{{- $board := .Values.tensorboard -}}
{{- if $board.enabled -}}
{{- $folder := .Values.checkpoints.mountPath | trimSuffix "/" -}}
{{- $logdir := $board.logdir | default (printf "%s/tensorboard" $folder) -}}
{{- if not (hasPrefix (printf "%s/" $folder) (printf "%s/" $logdir)) -}}
{{- fail (printf "tensorboard.logdir %s is on no volume that TensorBoard mounts: name a folder in %s" $logdir $folder) -}}
{{- end -}}
{{- $image := include "common.image" (dict "image" .Values.image "root" .) -}}
- name: tensorboard
  image: {{ $board.image | default $image | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
  terminationMessagePolicy: FallbackToLogsOnError
  restartPolicy: Always
  command:
    {{- range $board.command }}
    - {{ include "common.literal" . }}
    {{- end }}
  args:
    - {{ printf "--logdir=%s" $logdir | include "common.literal" }}
    - --port={{ int64 $board.port }}
    {{- if $board.service }}
    - --bind_all
    {{- end }}
  env:
    - name: HOME
      value: /tmp
    - name: NVIDIA_VISIBLE_DEVICES
      value: void
  {{- if $board.service }}
  ports:
    - name: tensorboard
      containerPort: {{ int64 $board.port }}
  {{- end }}
  resources:
    limits:
      {{- include "common.quantities" ($board.resources.limits | default dict) | nindent 6 }}
    requests:
      {{- include "common.quantities" ($board.resources.limits | default dict) | nindent 6 }}
  {{- with .Values.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    {{- include "training-job.checkpointsMount" . | nindent 4 }}
      readOnly: true
    - name: tmp
      mountPath: /tmp
{{- end -}}
{{- end -}}

{{/*
training-job.firstNode: the role of the first pod among the run's nodes.
Takes the root context.
*/}}
{{- define "training-job.firstNode" -}}
{{- $first := "Worker" -}}
{{- range $role, $part := include "training-job.roles" . | fromYaml -}}
{{- $first = ternary $role $first (and $part.node (ne $role "Worker")) -}}
{{- end -}}
{{- lower $first -}}
{{- end -}}
