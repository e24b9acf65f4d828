{{/*
NCCL's flight recorder. Takes the root context in each helper; all of them give a YAML list, empty when it is off.
*/}}

{{/*
training-job.flightRecorderEnv: its variables, except those that the values set otherwise. TORCH_NCCL_* are the names that every
PyTorch 2 reads; 2.15 says in a warning that the first and the last are now TORCH_FR_BUFFER_SIZE and
TORCH_FR_DUMP_TEMP_FILE, and for the second its NCCL backend reads this one alone (torch/csrc/distributed/c10d:
FlightRecorder.hpp, ProcessGroupNCCL.hpp). The last is a prefix, to which the rank is added; the run's name keeps runs
apart that share a claim.
*/}}
{{- define "training-job.flightRecorderEnv" -}}
{{- if .Values.flightRecorder.enabled -}}
{{- $recorder := .Values.flightRecorder -}}
{{- $prefix := printf "%s/%s-rank-" (trimSuffix "/" $recorder.mountPath) (include "training-job.name" .) -}}
{{- $variables := dict "TORCH_NCCL_TRACE_BUFFER_SIZE" (int64 $recorder.entries) "TORCH_NCCL_DUMP_ON_TIMEOUT" true
    "TORCH_NCCL_DEBUG_INFO_TEMP_FILE" $prefix -}}
{{- $given := merge (include "common.fabric.variables" . | fromYaml) .Values.env .Values.envSecrets -}}
{{- $own := dict -}}
{{- range $name, $value := $variables -}}
{{- if not (hasKey $given $name) -}}
{{- $_ := set $own $name $value -}}
{{- end -}}
{{- end -}}
{{- include "common.env" (dict "env" $own) -}}
{{- end -}}
{{- end -}}

{{/* training-job.flightRecorderMount: where the files are written. */}}
{{- define "training-job.flightRecorderMount" -}}
{{- if .Values.flightRecorder.enabled }}
- name: flight-recorder
  mountPath: {{ .Values.flightRecorder.mountPath | quote }}
{{- end }}
{{- end -}}

{{/* training-job.flightRecorderVolume: the volume of the files. */}}
{{- define "training-job.flightRecorderVolume" -}}
{{- with .Values.flightRecorder }}
{{- if .enabled }}
- name: flight-recorder
  {{- if .existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .existingClaim | quote }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ .size | quote }}
  {{- end }}
{{- end }}
{{- end }}
{{- end -}}
