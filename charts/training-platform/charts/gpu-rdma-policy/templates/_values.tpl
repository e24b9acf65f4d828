{{/*
gpu-rdma-policy.checkValues: fails for required values that are empty. Takes the root context.
*/}}
{{- define "gpu-rdma-policy.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "profile" "images" "images.registry"
    "images.pullPolicy" "gpu" "gpu.namespace" "gpu.driver" "gpu.driver.enabled" "gpu.driver.kernelModules"
    "gpu.driver.upgrade" "gpu.driver.upgrade.maxUnavailable" "dcgm" "dcgm.enabled" "dcgm.metrics"
    "dcgm.serviceMonitor" "dcgm.serviceMonitor.interval" "mig" "mig.strategy" "network"
    "network.namespace" "network.doca" "network.doca.upgrade" "network.doca.upgrade.drain" "rdma"
    "rdma.periodicUpdateSeconds" "sriov" "sriov.nodeSelector" "topology" "topology.keys")) -}}
{{- end -}}
