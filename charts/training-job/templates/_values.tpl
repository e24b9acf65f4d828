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
{{- include "training-job.checkKubernetes" . -}}
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

{{/* training-job.checkKubernetes: fails for fields that an older API server would drop, most of them without a word. */}}
{{- define "training-job.checkKubernetes" -}}
{{- $version := .Capabilities.KubeVersion.Version -}}
{{- $sleeps := and (gt (int64 .Values.preStop.seconds) 0) (not .Values.preStop.command) -}}
{{- if and $sleeps (semverCompare "<1.30.0-0" $version) -}}
{{- fail (printf "preStop.seconds without a command requires Kubernetes 1.30; the cluster has %s: set preStop.command" $version) -}}
{{- end -}}
{{- if and (include "common.claims" . | fromYaml).claims (semverCompare "<1.31.0-0" $version) -}}
{{- $what := ternary "resourceClaims" "fabric.computeDomain" (not (empty .Values.resourceClaims)) -}}
{{- $advice := "request devices in resources.limits" -}}
{{- fail (printf "%s requires Kubernetes 1.31 or newer; the cluster has %s, and the pods would get no device: %s" $what $version $advice) -}}
{{- end -}}
{{- end -}}
