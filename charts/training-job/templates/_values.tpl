{{/* training-job.checkValues: fails for values of which no run can be made. */}}
{{- define "training-job.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "image" "nodes" "processesPerNode" "layout" "train"
    "launcher" "torchrun" "torchrun.port" "accelerate" "deepspeed" "deepspeed.microBatchPerGpu"
    "deepspeed.gradientAccumulation" "deepspeed.zeroStage" "deepspeed.offload" "deepspeed.offload.optimizer"
    "deepspeed.offload.params" "deepspeed.scratch" "deepspeed.scratch.mountPath" "elastic" "elastic.enabled"
    "elastic.minNodes" "elastic.maxRestarts" "resources" "env" "envSecrets" "sharedMemory" "temporaryStorage"
    "checkpoints" "placement" "restartPolicy" "runPolicy" "podLabels" "preStop" "preStop.seconds" "upgrade")) -}}
{{- include "training-job.checkScheduling" . -}}
{{- include "training-job.checkPlacement" . -}}
{{- include "training-job.checkLaunch" . -}}
{{- end -}}
