{{/* training-preflight.checkValues: fails for values that cannot produce a working preflight. */}}
{{- define "training-preflight.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "image" "image.pullPolicy" "nodes" "processesPerNode"
    "torchrun" "torchrun.command" "torchrun.port" "ncclTests" "ncclTests.enabled" "ncclTests.command" "ncclTests.mpirun"
    "ncclTests.port" "sizes" "sizes.start" "sizes.factor" "iterations" "warmUp" "threshold"
    "startTimeoutSeconds" "activeDeadlineSeconds" "resources" "env" "envSecrets" "nccl" "fabric" "fabric.profile"
    "fabric.env" "fabric.resources" "fabric.topologyFile" "fabric.tcpxo" "fabric.computeDomain" "sharedMemory"
    "sharedMemory.enabled" "placement" "placement.nodes" "placement.healthLabels" "podLabels"
    "scheduling" "scheduling.queue")) -}}
{{- include "common.checkQueue" . -}}
{{- include "common.fabric.check" (dict "root" . "nodes" .Values.nodes) -}}
{{- include "common.refuseSecrets" . -}}
{{- include "common.checkFormats" . -}}
{{- include "common.checkResources" (dict "root" . "paths" (list "resources")) -}}
{{- include "common.checkSecurity" . -}}
{{- include "common.checkTolerations" . -}}
{{- include "training-preflight.checkPlacement" . -}}
{{- include "training-preflight.checkThreshold" . -}}
{{- if and .Values.ncclTests.enabled (eq (int64 .Values.ncclTests.port) (int64 .Values.torchrun.port)) -}}
{{- fail "ncclTests.port equals torchrun.port: use another port" -}}
{{- end -}}
{{- if ge (int64 .Values.startTimeoutSeconds) (int64 .Values.activeDeadlineSeconds) -}}
{{- $reason := "the pods would be deleted before they can report the missing nodes" -}}
{{- fail (printf "activeDeadlineSeconds is not more than startTimeoutSeconds: %s; raise it" $reason) -}}
{{- end -}}
{{- end -}}

{{/* training-preflight.checkPlacement: fails for too few nodes to hold one pod each. */}}
{{- define "training-preflight.checkPlacement" -}}
{{- $placement := .Values.placement -}}
{{- if hasKey ($placement.affinity | default dict) "podAntiAffinity" -}}
{{- fail "placement.affinity.podAntiAffinity: the chart sets it, so that each pod has its own node; remove it" -}}
{{- end -}}
{{- $left := list -}}
{{- range $placement.nodes.allow -}}
{{- if not (has . ($placement.nodes.ignore | default list)) -}}
{{- $left = append $left . -}}
{{- end -}}
{{- end -}}
{{- if and $placement.nodes.allow (lt (len $left) (int .Values.nodes)) -}}
{{- $advice := "name more nodes, or lower nodes" -}}
{{- fail (printf "placement.nodes allows %d nodes and nodes is %d: %s" (len $left) (int .Values.nodes) $advice) -}}
{{- end -}}
{{- end -}}
