{{/* training-job.checkValues: fails for values of which no run can be made. */}}
{{- define "training-job.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "image" "nodes" "processesPerNode" "layout" "train"
    "torchrun" "torchrun.port" "resources" "env" "envSecrets" "sharedMemory" "temporaryStorage" "checkpoints"
    "placement" "restartPolicy" "runPolicy" "podLabels" "preStop" "preStop.seconds" "upgrade")) -}}
{{- include "training-job.checkScheduling" . -}}
{{- include "training-job.checkPlacement" . -}}
{{- end -}}
