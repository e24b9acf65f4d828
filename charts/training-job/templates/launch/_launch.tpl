{{/*
Start of the program in each pod. Everything is an argv list: no shell is involved between the values and the program.
Values that are known only at run time are written as $(NAME), which Kubernetes itself replaces from the container's environment;
that covers what the operator adds to it and what comes from the pod's labels.
*/}}

{{/*
training-job.layout: `layout`, where the kind leaves a choice. An elastic run has Workers alone, because the operator
leaves a Master out of PET_NNODES.
*/}}
{{- define "training-job.layout" -}}
{{- $fixed := dict "JAXJob" "worker-only" "PaddleJob" "worker-only" "TrainJob" "worker-only" -}}
{{- $_ := set $fixed "MPIJob" (ternary "master-worker" "worker-only" .Values.mpi.launcher.asWorker) -}}
{{- get $fixed .Values.kind | default (ternary "worker-only" .Values.layout .Values.elastic.enabled) -}}
{{- end -}}

{{/* training-job.mostNodes: the largest number of pods that the run may have. */}}
{{- define "training-job.mostNodes" -}}
{{- $nodes := int .Values.nodes -}}
{{- if .Values.elastic.enabled -}}
{{- $nodes = int (.Values.elastic.maxNodes | default $nodes) -}}
{{- end -}}
{{- $nodes -}}
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
{{- range .Values.train.command }}
- {{ include "common.literal" . }}
{{- end }}
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
- --nproc-per-node={{ .Values.processesPerNode }}
- --rdzv-backend=c10d
- --rdzv-endpoint={{ include "training-job.firstHost" . }}:{{ .Values.torchrun.port }}
- --rdzv-id={{ include "training-job.name" . }}
- --rdzv-conf=read_timeout={{ $timeout }},join_timeout={{ $timeout }}
{{- end }}
{{- range .Values.torchrun.args }}
- {{ include "common.literal" . }}
{{- end }}
{{- end -}}

{{/* training-job.args: the program and its arguments, as a YAML list. */}}
{{- define "training-job.args" -}}
{{- if .Values.train.script }}
- {{ include "common.literal" .Values.train.script }}
{{- else if .Values.train.module }}
- -m
- {{ include "common.literal" .Values.train.module }}
{{- end }}
{{- if .Values.train.config }}
- --config
- /etc/trainyard/trainer.json
{{- end }}
{{- range .Values.train.args }}
- {{ include "common.literal" . }}
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
{{- include "training-job.elasticEnv" . }}
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
{{- $size := mul .Values.nodes (max 1 (int .Values.processesPerNode)) }}
{{- $env := dict "MASTER_ADDR" $host "MASTER_PORT" .Values.torchrun.port "WORLD_SIZE" $size }}
{{- $ranks := list "RANK" }}
{{- if $isTrainJob }}
{{- $ranks = append $ranks "PET_NODE_RANK" }}
{{- $own := dict "PET_MASTER_ADDR" $host "PET_MASTER_PORT" .Values.torchrun.port "PET_NNODES" .Values.nodes
    "PET_NPROC_PER_NODE" .Values.processesPerNode "PYTHONUNBUFFERED" 1 }}
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
{{- if and $train.config (or $train.script (ne $train.module "trainer")) -}}
{{- fail "train.config: only the reference trainer reads it; remove it, or set train.module to trainer" -}}
{{- end -}}
{{- range $field, $value := $train.config -}}
{{- $flag := printf "--%s" (replace "_" "-" $field) -}}
{{- range $train.args -}}
{{- if eq $flag (splitList "=" (toString .) | first) -}}
{{- fail (printf "train.config.%s: train.args has %s, which would take precedence; keep one of them" $field $flag) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkLaunch: fails for values that the launcher would ignore silently, or does not support. */}}
{{- define "training-job.checkLaunch" -}}
{{- $values := .Values -}}
{{- if and (not $values.train.module) (not $values.train.script) (ne $values.launcher "command") -}}
{{- fail (printf "train.module is empty: launcher %s runs a module or train.script, so name one" $values.launcher) -}}
{{- end -}}
{{- include "training-job.checkTrainer" . -}}
{{- if and $values.accelerate.config (ne $values.launcher "accelerate") -}}
{{- fail (printf "accelerate.config: launcher %s does not read it; set launcher to accelerate" $values.launcher) -}}
{{- end -}}
{{- include "training-job.checkAccelerate" . -}}
{{- include "training-job.checkDeepSpeed" . -}}
{{- include "training-job.checkElastic" . -}}
{{- end -}}
