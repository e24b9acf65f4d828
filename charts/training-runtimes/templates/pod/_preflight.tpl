{{/*
The check of the nodes before the program starts. It needs PyTorch, so only runtimes of the policy `torch` have it. A
ConfigMap would have to be in each namespace with TrainJobs, so the program is an argument.
*/}}

{{/* training-runtimes.hasPreflight: "true" if the pods have the check. Takes what `training-runtimes.job` takes. */}}
{{- define "training-runtimes.hasPreflight" -}}
{{- and .root.Values.preflight.enabled (eq .runtime.policy "torch") -}}
{{- end -}}

{{/*
training-runtimes.preflight: the init container, a list item. Trainer adds the variables of the rendezvous, see
`training-runtimes.spec`. A container only sees devices that it requests itself, and a pod requests the larger of its init container
and its program. Takes what `training-runtimes.job` takes.
*/}}
{{- define "training-runtimes.preflight" -}}
{{- $pod := . -}}
{{- with .root -}}
{{- $resources := dict -}}
{{- include "common.podResources" (dict "root" . "into" $resources) -}}
- name: preflight
  image: {{ include "common.image" (dict "image" .Values.image "root" .) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
  terminationMessagePolicy: FallbackToLogsOnError
  command:
    - torchrun
    - --nproc-per-node={{ include "common.processes" . }}
    - --rdzv-conf=timeout={{ int64 .Values.rendezvousSeconds }}
    - --no-python
    - python3
    - -c
  args:
    - |
      {{- .Files.Get "files/preflight/node_check.py" | trim | nindent 6 }}
    {{- with pick $resources.limits "nvidia.com/gpu" "amd.com/gpu" | values }}
    - --gpus={{ first . | int64 }}
    {{- end }}
    - --timeout-seconds={{ int64 .Values.preflight.timeoutSeconds }}
    - --folder=/workspace
    {{- range $volume := .Values.volumes }}
    {{- if not $volume.readOnly }}
    - {{ printf "--folder=%s" $volume.mountPath | include "common.literal" }}
    {{- end }}
    {{- end }}
  env:
    - {{ include "common.preflight.nodeName" . | nindent 6 | trim }}
    {{- with include "common.env" (dict "env" (include "common.fabric.variables" . | fromYaml)) | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with include "common.env" (dict "env" .Values.env "secrets" .Values.envSecrets) | trim }}
    {{- . | nindent 4 }}
    {{- end }}
  resources:
    {{- include "common.resources" (dict "root" . "resources" $resources "isNode" true) | trim | nindent 4 }}
  {{- with include "common.fabric.security" (dict "root" . "security" .Values.securityContext) | fromYaml }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    {{- include "training-runtimes.mounts" $pod | trim | nindent 4 }}
{{- end -}}
{{- end -}}
