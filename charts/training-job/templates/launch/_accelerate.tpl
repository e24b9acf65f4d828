{{/*
Hugging Face Accelerate. Read in accelerate 1.15 (commands/launch.py, utils/launch.py, state.py).
*/}}

{{/*
training-job.accelerate: `accelerate launch`, which runs torchrun in its own process. Address, port and rank differ from
pod to pod or are the operator's, so they are options and not part of the file.
*/}}
{{- define "training-job.accelerate" -}}
{{- range .Values.accelerate.command }}
- {{ include "common.literal" . }}
{{- end }}
- --config_file=/etc/trainyard/accelerate.json
- --main_process_ip=$(MASTER_ADDR)
- --main_process_port=$(MASTER_PORT)
- --machine_rank=$(RANK)
- --rdzv_conf=timeout={{ int .Values.torchrun.timeoutSeconds }}
{{- range .Values.accelerate.args }}
- {{ include "common.literal" . }}
{{- end }}
{{- end -}}

{{/*
training-job.accelerateConfig: the file, `accelerate.config` over what follows from other values. MULTI_GPU is the type
by which Accelerate starts the processes with torchrun, on CPU as well: with MULTI_CPU it starts one, whatever
num_processes says. For DeepSpeed it would start pdsh, which needs ssh, unless told `standard`.
*/}}
{{- define "training-job.accelerateConfig" -}}
{{- $derived := dict "compute_environment" "LOCAL_MACHINE" "distributed_type" "MULTI_GPU"
    "num_machines" (int64 .Values.nodes) "num_processes" (mul .Values.nodes (include "training-job.processes" . | int64)) -}}
{{- if include "training-job.usesDeepSpeed" . -}}
{{- $file := include "training-job.deepspeedPath" . -}}
{{- $deepspeed := dict "deepspeed_config_file" $file "deepspeed_multinode_launcher" "standard" -}}
{{- $_ := set $derived "deepspeed_config" $deepspeed -}}
{{- end -}}
{{- merge (deepCopy (.Values.accelerate.config | default dict)) $derived | toRawJson -}}
{{- end -}}

{{/*
training-job.accelerateEnv: `use_cpu` reaches the program only through the launcher of MULTI_CPU; without this variable
each process would train alone.
*/}}
{{- define "training-job.accelerateEnv" -}}
{{- $name := "ACCELERATE_USE_CPU" -}}
{{- $usesCpu := get (.Values.accelerate.config | default dict) "use_cpu" -}}
{{- if and (eq .Values.launcher "accelerate") $usesCpu (not (hasKey .Values.env $name)) }}
- name: {{ $name }}
  value: "true"
{{- end }}
{{- end -}}

{{/* training-job.checkAccelerate: fails where the configuration contradicts other values, or starts too few processes. */}}
{{- define "training-job.checkAccelerate" -}}
{{- if eq .Values.launcher "accelerate" -}}
{{- $processes := .Values.processesPerNode -}}
{{- if kindIs "string" $processes -}}
{{- $advice := "Accelerate needs the total of all nodes" -}}
{{- fail (printf "processesPerNode: launcher accelerate needs a number, not %s: %s" $processes $advice) -}}
{{- end -}}
{{- $config := .Values.accelerate.config | default dict -}}
{{- $owners := dict "num_machines" "nodes" "num_processes" "nodes and processesPerNode" "machine_rank"
    "the pod's index" "main_process_ip" "layout" "main_process_port" "torchrun.port" -}}
{{- range $key, $owner := $owners -}}
{{- if hasKey $config $key -}}
{{- fail (printf "accelerate.config.%s is derived from %s: remove it" $key $owner) -}}
{{- end -}}
{{- end -}}
{{- $type := $config.distributed_type | default "" -}}
{{- if and (has $type (list "NO" "MULTI_CPU")) (gt (include "training-job.processes" . | int) 1) -}}
{{- $advice := "remove it, and set accelerate.config.use_cpu to train on CPU" -}}
{{- fail (printf "accelerate.config.distributed_type: %s starts one process in each pod; %s" $type $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
