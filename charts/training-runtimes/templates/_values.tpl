{{/* training-runtimes.checkValues: fails for values that cannot produce a working runtime. Takes the root context. */}}
{{- define "training-runtimes.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "runtimes" "image" "image.pullPolicy" "resources"
    "env" "envSecrets" "rendezvousSeconds" "maxRestarts" "nccl" "fabric" "fabric.profile" "fabric.env" "fabric.resources"
    "fabric.topologyFile" "fabric.tcpxo" "sharedMemory" "sharedMemory.enabled" "workspace" "volumes" "preflight"
    "preflight.enabled" "preflight.timeoutSeconds" "flightRecorder"
    "flightRecorder.mountPath" "flightRecorder.size" "flightRecorder.entries" "placement" "placement.spread"
    "placement.nodes" "placement.healthLabels" "scheduling" "scheduling.gang" "networkPolicy" "podLabels")) -}}
{{- include "common.refuseSecrets" . -}}
{{- include "common.checkFormats" . -}}
{{- include "common.checkSecurity" . -}}
{{- include "common.checkTolerations" . -}}
{{- include "training-runtimes.checkVolumes" . -}}
{{- if and .Values.fabric.hostNetwork .Values.networkPolicy.namespaces -}}
{{- $advice := "remove it, or fabric.hostNetwork" -}}
{{- fail (printf "networkPolicy.namespaces: policies do not apply to pods in the host's network; %s" $advice) -}}
{{- end -}}
{{- if and .Values.placement.schedulerName (ne .Values.scheduling.gang.scheduler "none") -}}
{{- fail "placement.schedulerName and scheduling.gang both name a scheduler: use scheduling.gang.schedulerName" -}}
{{- end -}}
{{- end -}}

{{/*
training-runtimes.check: fails for a runtime with which no TrainJob could work. Takes (dict "name" <name> "runtime" <entry
of runtimes> "root" <its root context, see training-runtimes.root>).
*/}}
{{- define "training-runtimes.check" -}}
{{- $at := printf "runtimes.%s" .name -}}
{{- include "common.fabric.check" (dict "root" .root "nodes" 2) -}}
{{- include "common.checkResources" (dict "root" .root "paths" (list "resources")) -}}
{{- $owned := include "training-runtimes.owned" . | fromJsonArray -}}
{{- range $name := concat (keys .root.Values.env) (keys .root.Values.envSecrets) (keys .root.Values.fabric.env) | sortAlpha -}}
{{- if has $name $owned -}}
{{- fail (printf "%s: env.%s: Trainer sets it in every pod of a TrainJob; remove it" $at $name) -}}
{{- end -}}
{{- end -}}
{{- if and .runtime.args (not .runtime.command) -}}
{{- fail (printf "%s.args: the SDK and TrainJobs replace command and args separately; write %s.command too" $at $at) -}}
{{- end -}}
{{- end -}}

{{/* training-runtimes.owned: variables that Trainer sets in a pod, as JSON. Takes what `training-runtimes.check` takes. */}}
{{- define "training-runtimes.owned" -}}
{{- $names := dict "torch" (list "PET_NNODES" "PET_NPROC_PER_NODE" "PET_NODE_RANK" "PET_MASTER_ADDR" "PET_MASTER_PORT")
    "jax" (list "JAX_NUM_PROCESSES" "JAX_PROCESS_ID" "JAX_COORDINATOR_ADDRESS")
    "mpi" (list "OMPI_MCA_orte_default_hostfile" "OMPI_MCA_plm_rsh_args" "OMPI_MCA_orte_keep_fqdn_hostnames"
      "OMPI_MCA_orte_set_default_slots") -}}
{{- get $names .runtime.policy | toJson -}}
{{- end -}}
