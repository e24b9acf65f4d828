{{/* training-job.checkValues: fails for values that cannot produce a working run. */}}
{{- define "training-job.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "kind" "image" "image.pullPolicy" "nodes" "layout"
    "train" "launcher" "torchrun" "torchrun.port" "accelerate" "deepspeed" "deepspeed.microBatchPerGpu"
    "deepspeed.gradientAccumulation" "deepspeed.zeroStage" "deepspeed.offload" "deepspeed.offload.optimizer"
    "deepspeed.offload.params" "deepspeed.scratch" "deepspeed.scratch.mountPath" "elastic" "elastic.enabled"
    "elastic.minNodes" "elastic.maxRestarts" "resources" "env" "envSecrets" "sharedMemory" "temporaryStorage"
    "checkpoints" "placement" "restartPolicy" "runPolicy" "podLabels" "preStop" "preStop.seconds" "upgrade"
    "mpi" "mpi.implementation" "mpi.command" "mpi.launcher" "mpi.launcher.resources"
    "mpi.launcher.asWorker" "mpi.launcher.creationPolicy" "mpi.ssh" "mpi.ssh.daemon" "mpi.ssh.port" "mpi.ssh.mountPath"
    "tensorflow" "tensorflow.parameterServers" "tensorflow.parameterServers.resources" "paddle"
    "paddle.parameterServers" "paddle.parameterServers.resources"
    "volumes" "scratch" "scratch.mountPath" "dataset" "dataset.path" "dataset.http" "dataset.git"
    "dataset.git.path" "dataset.s3" "dataset.s3.endpoint" "dataset.s3.region" "dataset.s3.provider"
    "dataset.s3.anonymous" "dataset.gs" "dataset.gs.anonymous" "dataset.huggingFace" "dataset.huggingFace.type"
    "dataset.claim" "dataset.claim.path" "dataset.checksum" "dataset.checksum.manifest" "dataset.resources"
    "nccl" "fabric" "fabric.profile" "fabric.env" "fabric.resources" "fabric.topologyFile" "fabric.tcpxo"
    "fabric.computeDomain")) -}}
{{- include "training-job.checkKind" . -}}
{{- include "training-job.checkServed" . -}}
{{- include "common.checkQueue" . -}}
{{- include "training-job.checkScheduling" . -}}
{{- include "training-job.checkPlacement" . -}}
{{- include "training-job.checkLaunch" . -}}
{{- include "common.fabric.check" (dict "root" . "nodes" (include "training-job.mostNodes" .)) -}}
{{- include "training-job.checkVolumes" . -}}
{{- include "training-job.checkDataset" . -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "envFrom" "serviceAccount" "networkPolicy"
    "networkPolicy.egress" "networkPolicy.egress.dnsPorts" "multiNetworkPolicy" "metrics" "metrics.port"
    "metrics.interval" "tensorboard" "tensorboard.command" "tensorboard.port" "tensorboard.resources" "flightRecorder"
    "flightRecorder.mountPath" "flightRecorder.size" "flightRecorder.entries" "preflight" "preflight.minBusBandwidth"
    "preflight.maxMebibytes" "preflight.timeoutSeconds" "preflight.ttlSecondsAfterFinished")) -}}
{{- include "common.refuseSecrets" . -}}
{{- include "training-job.checkNetwork" . -}}
{{- include "training-job.checkPorts" . -}}
{{- include "training-job.checkPreflight" . -}}
{{- end -}}
