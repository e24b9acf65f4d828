{{/*
Start of the program in each pod. Everything is an argv list: no shell is involved between the values and the program.
Values that are known only at run time are written as $(NAME), which Kubernetes itself replaces from the container's environment;
that covers what the operator adds to it and what comes from the pod's labels.
*/}}

{{/*
training-job.layout: `layout`, where the kind leaves a choice. An elastic run has Workers alone, because the operator
leaves a Master out of PET_NNODES. In a large run the Workers do not wait for a Master: each would ask the cluster's DNS
for its name every few seconds, from an init container with an image of its own.
*/}}
{{- define "training-job.layout" -}}
{{- $fixed := dict "JAXJob" "worker-only" "PaddleJob" "worker-only" "TrainJob" "worker-only" -}}
{{- $_ := set $fixed "MPIJob" (ternary "master-worker" "worker-only" .Values.mpi.launcher.asWorker) -}}
{{- $layout := .Values.layout -}}
{{- if eq $layout "auto" -}}
{{- $isLarge := and (eq .Values.kind "PyTorchJob") (gt (int .Values.nodes) 100) -}}
{{- $layout = ternary "worker-only" "master-worker" $isLarge -}}
{{- end -}}
{{- get $fixed .Values.kind | default (ternary "worker-only" $layout .Values.elastic.enabled) -}}
{{- end -}}

{{/* training-job.mostNodes: the largest number of pods that the run may have. */}}
{{- define "training-job.mostNodes" -}}
{{- $nodes := int .Values.nodes -}}
{{- if .Values.elastic.enabled -}}
{{- $nodes = int (.Values.elastic.maxNodes | default $nodes) -}}
{{- end -}}
{{- $nodes -}}
{{- end -}}

{{/*
training-job.processes: the number of processes of a pod, as text. Null is one for each accelerator where a launcher
starts them, and 1 where the program is one process that uses all devices.
*/}}
{{- define "training-job.processes" -}}
{{- if and (kindIs "invalid" .Values.processesPerNode) (include "training-job.isSingleProcess" .) -}}
1
{{- else -}}
{{- include "common.processes" . -}}
{{- end -}}
{{- end -}}

{{/* training-job.isSingleProcess: "true" where each pod is one process, unless the program starts more itself. */}}
{{- define "training-job.isSingleProcess" -}}
{{- if include "training-job.isPyTorch" . -}}
{{- if eq .Values.launcher "command" -}}true{{- end -}}
{{- else -}}
{{- $servers := include "training-job.parameterServers" . | fromYaml -}}
{{- if or (gt (int $servers.count) 0) (not (has .Values.kind (list "MPIJob" "PaddleJob"))) -}}true{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkProcesses: fails where the chart cannot count the devices that the processes would use. */}}
{{- define "training-job.checkProcesses" -}}
{{- $unknown := and .Values.resourceClaims (eq (include "common.accelerators" .) "0") -}}
{{- if and $unknown (kindIs "invalid" .Values.processesPerNode) (not (include "training-job.isSingleProcess" .)) -}}
{{- $advice := "write the number of GPUs that a pod claims, or 1" -}}
{{- fail (printf "processesPerNode is null, and resourceClaims do not tell how many GPUs a pod has: %s" $advice) -}}
{{- end -}}
{{- end -}}

{{/* training-job.usesDeepSpeed: "true" when the program reads the configuration that `deepspeed` describes, or "". */}}
{{- define "training-job.usesDeepSpeed" -}}
{{- $type := get (.Values.accelerate.config | default dict) "distributed_type" -}}
{{- if or (eq .Values.launcher "deepspeed") (and (eq .Values.launcher "accelerate") (eq (toString $type) "DEEPSPEED")) -}}
true
{{- end -}}
{{- end -}}

{{/*
training-job.command: what starts the program, as a YAML list. DeepSpeed's own launcher reaches the other nodes by ssh,
or wants every host's name in a file; torchrun in each pod sets the same variables, which deepspeed.initialize reads.
*/}}
{{- define "training-job.command" -}}
{{- if eq .Values.launcher "command" }}
{{- include "training-job.ownCommand" . }}
{{- else if eq .Values.launcher "accelerate" }}
{{- include "training-job.accelerate" . }}
{{- else }}
{{- include "training-job.torchrun" . }}
{{- end }}
{{- end -}}

{{/*
training-job.torchrun: torchrun with its options. With a Master, and in an elastic run, the operator tells torchrun how
to meet through PET_* variables, and in a TrainJob the chart does. Without one it sets no address, so the Workers meet
at worker 0, under the name of the Service that the operator makes for it. That name resolves only once the pod runs:
torchrun asks again until the timeout.
*/}}
{{- define "training-job.torchrun" -}}
{{- $timeout := int .Values.torchrun.timeoutSeconds -}}
{{- range .Values.torchrun.command }}
- {{ include "common.literal" . }}
{{- end }}
{{- if or (eq (include "training-job.layout" .) "master-worker") (eq .Values.kind "TrainJob") }}
- --rdzv-conf=timeout={{ $timeout }}
{{- else if not .Values.elastic.enabled }}
- --nnodes={{ .Values.nodes }}
- --nproc-per-node={{ include "training-job.processes" . }}
- --rdzv-backend=c10d
- --rdzv-endpoint={{ include "training-job.firstHost" . }}:{{ .Values.torchrun.port }}
- --rdzv-id={{ include "training-job.name" . }}
- --rdzv-conf=read_timeout={{ $timeout }},join_timeout={{ $timeout }}
{{- end }}
{{- range .Values.torchrun.args }}
- {{ include "common.literal" . }}
{{- end }}
{{- end -}}

{{/* training-job.ownCommand: `train.command` or its default, as a YAML list. */}}
{{- define "training-job.ownCommand" -}}
{{- range .Values.train.command | default (list "python3") }}
- {{ include "common.literal" . }}
{{- end }}
{{- end -}}

{{/*
training-job.module: the module that runs where `train.script` names no file; empty for none. The reference trainer, a
PyTorch program, runs only where the values name no program of their own.
*/}}
{{- define "training-job.module" -}}
{{- $train := .Values.train -}}
{{- $isOwn := or $train.script (and (eq .Values.launcher "command") $train.command) -}}
{{- if kindIs "string" $train.module -}}
{{- $train.module -}}
{{- else if and (include "training-job.isPyTorch" .) (not $isOwn) -}}
trainer
{{- end -}}
{{- end -}}

{{/* training-job.isReference: "true" when the program is the reference trainer, or "". */}}
{{- define "training-job.isReference" -}}
{{- if and (not .Values.train.script) (eq (include "training-job.module" .) "trainer") -}}
true
{{- end -}}
{{- end -}}

{{/* training-job.referenceArgs: flags of the reference trainer, except those that `train.config` sets, as a YAML list. */}}
{{- define "training-job.referenceArgs" -}}
{{- $config := .Values.train.config | default dict -}}
{{- if not (hasKey $config "epochs") }}
- --epochs
- "3"
{{- end }}
{{- if not (hasKey $config "checkpoint_dir") }}
- --checkpoint-dir
- {{ include "common.literal" .Values.checkpoints.mountPath }}
{{- end }}
{{- end -}}

{{/* training-job.args: the program and its arguments, as a YAML list. */}}
{{- define "training-job.args" -}}
{{- if .Values.train.script }}
- {{ include "common.literal" .Values.train.script }}
{{- else }}
{{- with include "training-job.module" . }}
- -m
- {{ include "common.literal" . }}
{{- end }}
{{- end }}
{{- if .Values.train.config }}
- --config
- /etc/trainyard/trainer.json
{{- end }}
{{- if kindIs "slice" .Values.train.args }}
{{- range .Values.train.args }}
- {{ include "common.literal" . }}
{{- end }}
{{- else if include "training-job.isReference" . }}
{{- include "training-job.referenceArgs" . }}
{{- end }}
{{- if and (eq .Values.launcher "deepspeed") .Values.deepspeed.option }}
- {{ include "common.literal" .Values.deepspeed.option }}
- {{ include "training-job.deepspeedPath" . }}
{{- end }}
{{- end -}}

{{/*
training-job.env: the environment, without the names that the operator appends to it: of two entries with one name the
last counts, so the user's value would be lost silently.
*/}}
{{- define "training-job.env" -}}
{{- $kind := include "training-job.kind" . | fromYaml -}}
{{- $owned := $kind.variables -}}
{{- if .Values.elastic.enabled -}}
{{- $owned = concat $owned (list "PET_RDZV_ENDPOINT" "PET_RDZV_BACKEND" "PET_RDZV_ID" "PET_RDZV_CONF"
    "PET_MAX_RESTARTS") -}}
{{- end -}}
{{- $operators := dict "mpi-operator" "MPI operator" "training-operator" "training operator" "trainer" "chart" -}}
{{- $operator := include "training-job.operator" . | get $operators -}}
{{- $torch := "nodes, processesPerNode or torchrun.port" -}}
{{- $own := dict "PyTorchJob" $torch "TrainJob" $torch "MPIJob" "nodes, processesPerNode or mpi" -}}
{{- $advice := get $own .Values.kind | default "nodes" | printf "remove it and use %s" -}}
{{- range $name := concat (keys .Values.env) (keys .Values.envSecrets) (keys .Values.fabric.env) | sortAlpha }}
{{- if has $name $owned }}
{{- fail (printf "env.%s: the %s sets it in every pod and its value takes precedence; %s" $name $operator $advice) }}
{{- end }}
{{- end }}
{{- $env := .Values.env -}}
{{- with include "training-job.saveEnv" . -}}
{{- $env = merge (deepCopy $env) (fromYaml .) -}}
{{- end -}}
{{- include "common.env" (dict "env" (include "common.fabric.variables" . | fromYaml)) }}
{{- include "common.env" (dict "env" $env "secrets" .Values.envSecrets) }}
{{- $asks := and (eq .Values.kind "PyTorchJob") (has .Values.launcher (list "accelerate" "command")) }}
{{- if or $asks (eq .Values.kind "TrainJob") }}
{{- include "training-job.peers" . }}
{{- end }}
{{- include "training-job.accelerateEnv" . }}
{{- include "training-job.storeEnv" . }}
{{- include "training-job.flightRecorderEnv" . }}
{{- end -}}

{{/*
training-job.peers: what the operator says of a run with a Master, for one without: there it sets neither an address nor
a rank, and only torchrun finds out by itself. Trainer sets the PET_* variables of its own idea alone, where a runtime
asks for them: its port is always 29500, and it takes `auto` for the number of CPUs that a pod asks for. So a TrainJob
has all that the training operator sets, from the same values.
*/}}
{{- define "training-job.peers" -}}
{{- if eq (include "training-job.layout" .) "worker-only" }}
{{- $isTrainJob := eq .Values.kind "TrainJob" }}
{{- $host := include "training-job.firstHost" . }}
{{- $size := mul .Values.nodes (max 1 (include "training-job.processes" . | int)) }}
{{- $env := dict "MASTER_ADDR" $host "MASTER_PORT" .Values.torchrun.port "WORLD_SIZE" $size }}
{{- $ranks := list "RANK" }}
{{- if $isTrainJob }}
{{- $ranks = append $ranks "PET_NODE_RANK" }}
{{- $own := dict "PET_MASTER_ADDR" $host "PET_MASTER_PORT" .Values.torchrun.port "PET_NNODES" .Values.nodes
    "PET_NPROC_PER_NODE" (include "training-job.processes" .) "PYTHONUNBUFFERED" 1 }}
{{- $env = merge $env $own }}
{{- end }}
{{- include "common.env" (dict "env" $env) }}
{{- range $name := $ranks }}
- name: {{ $name }}
  valueFrom:
    fieldRef:
      fieldPath: metadata.labels['{{ (include "training-job.podLabels" $ | fromYaml).index }}']
{{- end }}
{{- end }}
{{- end -}}

{{/* training-job.firstHost: the name under which the others find the first pod of a run without a Master. */}}
{{- define "training-job.firstHost" -}}
{{- $name := include "training-job.name" . -}}
{{- ternary (printf "%s-node-0-0.%s" $name $name) (printf "%s-worker-0" $name) (eq .Values.kind "TrainJob") -}}
{{- end -}}

{{/*
training-job.launchFiles: the files that the launcher or the program reads below /etc/trainyard, as a JSON map of name
to text. They are JSON too, because the numbers of values are floats, which YAML would write as 1e+06.
*/}}
{{- define "training-job.launchFiles" -}}
{{- $files := dict -}}
{{- with .Values.train.config -}}
{{- $_ := set $files "trainer.json" (toJson .) -}}
{{- end -}}
{{- if eq .Values.launcher "accelerate" -}}
{{- $_ := set $files "accelerate.json" (include "training-job.accelerateConfig" .) -}}
{{- end -}}
{{- if include "training-job.usesDeepSpeed" . -}}
{{- $_ := set $files "deepspeed.json" (include "training-job.deepspeedConfig" .) -}}
{{- end -}}
{{- toJson $files -}}
{{- end -}}

{{/* training-job.launchMounts: where the container finds those files, and where DeepSpeed keeps states off the GPU. */}}
{{- define "training-job.launchMounts" -}}
{{- if include "training-job.launchFiles" . | fromYaml }}
- name: launch
  mountPath: /etc/trainyard
  readOnly: true
{{- end }}
{{- if include "training-job.usesScratch" . }}
- name: deepspeed-scratch
  mountPath: {{ .Values.deepspeed.scratch.mountPath | quote }}
{{- end }}
{{- end -}}

{{/* training-job.launchVolumes: the volumes of these mounts. */}}
{{- define "training-job.launchVolumes" -}}
{{- if include "training-job.launchFiles" . | fromYaml }}
- name: launch
  configMap:
    name: {{ include "training-job.name" . }}-launch
{{- end }}
{{- if include "training-job.usesScratch" . }}
{{- $scratch := .Values.deepspeed.scratch }}
- name: deepspeed-scratch
  {{- $volume := $scratch.volume | default (dict "emptyDir" (dict "sizeLimit" $scratch.size)) }}
  {{- toYaml $volume | nindent 2 }}
{{- end }}
{{- end -}}

{{/* training-job.checkTrainer: fails for fields of the trainer that no program reads, or that a flag would override. */}}
{{- define "training-job.checkTrainer" -}}
{{- $train := .Values.train -}}
{{- if and $train.config (not (include "training-job.isReference" .)) -}}
{{- fail "train.config: only the reference trainer reads it; remove it, or set train.module to trainer" -}}
{{- end -}}
{{- range $field, $value := $train.config -}}
{{- $flag := printf "--%s" (replace "_" "-" $field) -}}
{{- range $train.args | default list -}}
{{- if eq $flag (splitList "=" (toString .) | first) -}}
{{- fail (printf "train.config.%s: train.args has %s, which would take precedence; keep one of them" $field $flag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkProgram: fails where the values name no program, or one that the launcher does not run. */}}
{{- define "training-job.checkProgram" -}}
{{- $train := .Values.train -}}
{{- $launcher := .Values.launcher -}}
{{- $usesCommand := or (eq $launcher "command") (not (include "training-job.isPyTorch" .)) -}}
{{- $isNamed := or $train.script (include "training-job.module" .) -}}
{{- if and $usesCommand (not $isNamed) (not $train.command) -}}
{{- $who := ternary (printf "launcher %s" $launcher) (printf "kind %s" .Values.kind) (not (empty (include "training-job.isPyTorch" .))) -}}
{{- $advice := "set train.command, train.script or train.module" -}}
{{- fail (printf "train names no program, and %s has no default: %s" $who $advice) -}}
{{- else if and (not $usesCommand) (not $isNamed) -}}
{{- $advice := "name one, or set launcher to command and name your program in train.command" -}}
{{- fail (printf "train.module is empty: launcher %s runs a module or train.script; %s" $launcher $advice) -}}
{{- else if and (not $usesCommand) $train.command (not $train.script) (not $train.module) -}}
{{- $advice := "set launcher to command, or name a train.script or train.module" -}}
{{- fail (printf "train.command: launcher %s does not run it; %s" $launcher $advice) -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkLaunch: fails for values that the launcher would ignore silently, or does not support. */}}
{{- define "training-job.checkLaunch" -}}
{{- $values := .Values -}}
{{- include "training-job.checkProgram" . -}}
{{- include "training-job.checkProcesses" . -}}
{{- include "training-job.checkTrainer" . -}}
{{- if and $values.accelerate.config (ne $values.launcher "accelerate") -}}
{{- fail (printf "accelerate.config: launcher %s does not read it; set launcher to accelerate" $values.launcher) -}}
{{- end -}}
{{- if and $values.accelerate.args (ne $values.launcher "accelerate") -}}
{{- fail (printf "accelerate.args: launcher %s does not run Accelerate; set launcher to accelerate" $values.launcher) -}}
{{- end -}}
{{- if and $values.torchrun.args (has $values.launcher (list "accelerate" "command")) -}}
{{- $advice := ternary "write accelerate.args" "set launcher to torchrun" (eq $values.launcher "accelerate") -}}
{{- fail (printf "torchrun.args: launcher %s does not pass them on; %s" $values.launcher $advice) -}}
{{- end -}}
{{- include "training-job.checkAccelerate" . -}}
{{- include "training-job.checkDeepSpeed" . -}}
{{- include "training-job.checkElastic" . -}}
{{- include "training-job.checkRestarts" . -}}
{{- end -}}
