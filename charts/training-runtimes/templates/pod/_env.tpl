{{/*
Variables of the container. Every helper takes what `training-runtimes.job` takes.
*/}}

{{/* training-runtimes.env: the fabric's variables, those of the values, and those of the policy, as a YAML list. */}}
{{- define "training-runtimes.env" -}}
{{- $pod := . -}}
{{- with .root -}}
{{- include "common.env" (dict "env" (include "common.fabric.variables" . | fromYaml)) }}
{{- include "common.env" (dict "env" .Values.env "secrets" .Values.envSecrets) }}
{{- if eq $pod.runtime.policy "torch" }}
{{- include "training-runtimes.torchEnv" $pod }}
{{- include "training-runtimes.flightRecorderEnv" $pod }}
{{- else if eq $pod.role "launcher" }}
{{- include "training-runtimes.launcherEnv" . }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
training-runtimes.torchEnv: the rendezvous. Trainer replaces all of it but the timeout, if the TrainJob has a `trainer`. A
TrainJob without one gets none of it from Trainer: its nodes would each train alone.
*/}}
{{- define "training-runtimes.torchEnv" }}
- name: TRAINJOB_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['jobset.sigs.k8s.io/jobset-name']
- name: PET_NODE_RANK
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['batch.kubernetes.io/job-completion-index']
- name: PET_MASTER_ADDR
  value: $(TRAINJOB_NAME)-node-0-0.$(TRAINJOB_NAME)
- name: PET_MASTER_PORT
  value: "29500"
- name: PET_NNODES
  value: {{ .runtime.nodes | default 1 | int64 | quote }}
- name: PET_NPROC_PER_NODE
  value: {{ include "common.processes" .root | quote }}
- name: PET_RDZV_CONF
  value: timeout={{ int64 .root.Values.rendezvousSeconds }}
{{- end -}}

{{/*
training-runtimes.flightRecorderEnv: NCCL's flight recorder, except the variables that the values set. TORCH_NCCL_* are the names
that every PyTorch 2 reads. The last is a prefix, to which the rank is added; the TrainJob's name keeps runs apart that
share a claim.
*/}}
{{- define "training-runtimes.flightRecorderEnv" -}}
{{- $recorder := .root.Values.flightRecorder -}}
{{- if $recorder.enabled -}}
{{- $prefix := printf "%s/$(TRAINJOB_NAME)-rank-" (trimSuffix "/" $recorder.mountPath) -}}
{{- $variables := dict "TORCH_NCCL_TRACE_BUFFER_SIZE" (int64 $recorder.entries | toString)
    "TORCH_NCCL_DUMP_ON_TIMEOUT" "true" "TORCH_NCCL_DEBUG_INFO_TEMP_FILE" $prefix -}}
{{- with .root -}}
{{- $given := merge (include "common.fabric.variables" . | fromYaml) .Values.env .Values.envSecrets -}}
{{- range $name, $value := $variables -}}
{{- if not (hasKey $given $name) }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
