{{/*
Differences between the kinds of runs. A kind is a row here, its roles, a file in templates/job and, if needed, a branch in
launch/_program.tpl. Everything else is the same for all kinds.
*/}}

{{/*
training-job.kind: requirements of the operator of the run's kind, as YAML. The operator finds `container` and `port` by
their names: its webhook refuses other names, or the pods have no rendezvous. The number of the port is the operator's
default; a PyTorchJob and a TrainJob have `torchrun.port`. It appends `variables` to the container: of two entries with one
name the last counts. Sources: the Go types and `SetPodEnv` or `SetClusterSpec` of
kubeflow/training-operator v1.9.3; for MPIJob v2beta1 in `newWorker` and `newLauncherPodTemplate` of
kubeflow/mpi-operator v0.8.2. In a TrainJob the chart itself writes them: see `training-job.peers`. Takes the root
context.
*/}}
{{- define "training-job.kind" -}}
{{- $kinds := include "training-job.kinds" . | fromYaml -}}
{{- index $kinds .Values.kind | toYaml -}}
{{- end -}}

{{/* training-job.kinds: the table of which `training-job.kind` is a row. Takes the root context. */}}
{{- define "training-job.kinds" -}}
{{- $torch := list "MASTER_ADDR" "MASTER_PORT" "WORLD_SIZE" "RANK" "PYTHONUNBUFFERED" "PET_MASTER_ADDR"
    "PET_MASTER_PORT" "PET_NNODES" "PET_NODE_RANK" "PET_NPROC_PER_NODE" | join ", " -}}
PyTorchJob:
  container: pytorch
  port: {name: pytorchjob-port}
  variables: [{{ $torch }}
    {{- if .Values.elastic.enabled }}, PET_RDZV_ENDPOINT, PET_RDZV_BACKEND, PET_RDZV_ID, PET_RDZV_CONF,
    PET_MAX_RESTARTS{{ end }}]
TrainJob:
  container: node
  port: {name: torchrun}
  variables: [{{ $torch }}]
TFJob:
  container: tensorflow
  port: {name: tfjob-port, number: 2222}
  variables: [TF_CONFIG]
JAXJob:
  container: jax
  port: {name: jaxjob-port, number: 6666}
  variables: [COORDINATOR_ADDRESS, COORDINATOR_PORT, NUM_PROCESSES, PROCESS_ID, PYTHONUNBUFFERED]
PaddleJob:
  container: paddle
  port: {name: master, number: 36543}
  variables: [PADDLE_JOB_ID, PADDLE_MASTER, PADDLE_NNODES, PADDLE_SERVER_NUM, PADDLE_TRAINER_NUM, POD_IP_DUMMY,
    PYTHONUNBUFFERED]
XGBoostJob:
  container: xgboost
  port: {name: xgboostjob-port, number: 9999}
  variables: [MASTER_ADDR, MASTER_PORT, WORLD_SIZE, RANK, PYTHONUNBUFFERED, WORKER_ADDRS, WORKER_PORT]
MPIJob:
  container: mpi
  variables: [K_MPI_JOB_ROLE, OMPI_MCA_orte_default_hostfile, OMPI_MCA_orte_keep_fqdn_hostnames,
    OMPI_MCA_orte_set_default_slots, OMPI_MCA_plm_rsh_agent, OMPI_MCA_plm_rsh_args, I_MPI_HYDRA_HOST_FILE,
    I_MPI_HYDRA_BOOTSTRAP_EXEC_EXTRA_ARGS, I_MPI_PERHOST, HYDRA_HOST_FILE, HYDRA_LAUNCHER_EXTRA_ARGS]
{{- end -}}

{{/* training-job.isPyTorch: "true" for the kinds that start PyTorch by `launcher`, or "". Takes the root context. */}}
{{- define "training-job.isPyTorch" -}}
{{- if has .Values.kind (list "PyTorchJob" "TrainJob") -}}
true
{{- end -}}
{{- end -}}

{{/*
training-job.podLabels: the keys of the labels that identify the pods of a run, as YAML: `job` has the run's name, `role`
the pod's role in lower case, `index` its number in the role. Takes the root context.
*/}}
{{- define "training-job.podLabels" -}}
{{- if eq .Values.kind "TrainJob" -}}
job: jobset.sigs.k8s.io/jobset-name
role: jobset.sigs.k8s.io/replicatedjob-name
index: batch.kubernetes.io/job-completion-index
{{- else -}}
{{- $isMpiOperator := eq (include "training-job.operator" .) "mpi-operator" -}}
job: training.kubeflow.org/job-name
role: training.kubeflow.org/{{ ternary "job-role" "replica-type" $isMpiOperator }}
index: training.kubeflow.org/replica-index
{{- end -}}
{{- end -}}

{{/*
training-job.roles: the roles of the run's pods, as YAML: for each the number of `replicas`, the `most` that an elastic
run may have, the key of the values that holds their `resources`, and whether each of them is one of the run's nodes
(`node`). What is none only serves them, and needs no node of its own. One role may come first and decide when the run
has succeeded; without it that is what all Workers do together. In a TrainJob they are called Node. Takes the root
context.
*/}}
{{- define "training-job.roles" -}}
{{- $kind := .Values.kind -}}
{{- $resources := "resources" -}}
{{- $roles := dict -}}
{{- $first := get (dict "TFJob" "Chief" "MPIJob" "Launcher") $kind | default "Master" -}}
{{- $firsts := ternary 1 0 (eq (include "training-job.layout" .) "master-worker") -}}
{{- if eq $firsts 1 -}}
{{- $_ := set $roles $first (dict "replicas" 1 "most" 1 "resources" $resources "node" true) -}}
{{- else if eq $kind "MPIJob" -}}
{{- $own := "mpi.launcher.resources" -}}
{{- $_ := set $roles $first (dict "replicas" 1 "most" 1 "resources" $own "node" false) -}}
{{- end -}}
{{- if and (eq $kind "TFJob") .Values.tensorflow.evaluator -}}
{{- $_ := set $roles "Evaluator" (dict "replicas" 1 "most" 1 "resources" $resources "node" false) -}}
{{- end -}}
{{- $servers := include "training-job.parameterServers" . | fromYaml -}}
{{- $count := int $servers.count -}}
{{- if gt $count 0 -}}
{{- $own := printf "%s.parameterServers.resources" (ternary "tensorflow" "paddle" (eq $kind "TFJob")) -}}
{{- $key := ternary $resources $own (empty $servers.resources.limits) -}}
{{- $role := ternary "PS" "Master" (eq $kind "TFJob") -}}
{{- $_ := set $roles $role (dict "replicas" $count "most" $count "resources" $key "node" false) -}}
{{- end -}}
{{- $workers := sub .Values.nodes $firsts -}}
{{- $most := sub (include "training-job.mostNodes" .) $firsts -}}
{{- if gt (int $workers) 0 -}}
{{- $role := ternary "Node" "Worker" (eq $kind "TrainJob") -}}
{{- $_ := set $roles $role (dict "replicas" $workers "most" $most "resources" $resources "node" true) -}}
{{- end -}}
{{- toYaml $roles -}}
{{- end -}}

{{/*
training-job.parameterServers: `count` and `resources` of the parameter servers of the run, as YAML; 0 for kinds that
have none. Paddle's are called Master: with one the operator puts every pod into the mode of parameter servers. Takes
the root context.
*/}}
{{- define "training-job.parameterServers" -}}
{{- $values := dict "TFJob" .Values.tensorflow.parameterServers "PaddleJob" .Values.paddle.parameterServers -}}
{{- get $values .Values.kind | default (dict "count" 0) | toYaml -}}
{{- end -}}

{{/* training-job.operator: `training-operator`, `mpi-operator` or `trainer`, which runs the job. Takes the root context. */}}
{{- define "training-job.operator" -}}
{{- if eq .Values.kind "TrainJob" -}}
trainer
{{- else -}}
{{- $isNew := eq (include "training-job.mpiVersion" .) "kubeflow.org/v2beta1" -}}
{{- ternary "mpi-operator" "training-operator" (and (eq .Values.kind "MPIJob") $isNew) -}}
{{- end -}}
{{- end -}}

{{/*
training-job.firstPod: the argument of `kubectl logs` to follow the run: the pod of rank 0, or the launcher, whose pod can
only be addressed through its Job in v2beta1. The names of a TrainJob's pods end with random letters. Takes the root context.
*/}}
{{- define "training-job.firstPod" -}}
{{- $roles := include "training-job.roles" . | fromYaml -}}
{{- $name := include "training-job.name" . -}}
{{- if eq .Values.kind "TrainJob" -}}
{{- $labels := include "training-job.podLabels" . | fromYaml -}}
-l {{ $labels.job }}={{ $name }},{{ $labels.index }}=0
{{- else if eq (include "training-job.operator" .) "mpi-operator" -}}
job/{{ $name }}-launcher
{{- else if hasKey $roles "Launcher" -}}
{{ $name }}-launcher
{{- else if hasKey $roles "Chief" -}}
{{ $name }}-chief-0
{{- else if and (hasKey $roles "Master") (ne .Values.kind "PaddleJob") -}}
{{ $name }}-master-0
{{- else -}}
{{ $name }}-worker-0
{{- end -}}
{{- end -}}

{{/*
training-job.checkKind: fails for values that the kind of the run would ignore although they were set on purpose, or with
which its operator would create nothing. Takes the root context.
*/}}
{{- define "training-job.checkKind" -}}
{{- $kind := .Values.kind -}}
{{- if and .Values.elastic.enabled (ne $kind "PyTorchJob") -}}
{{- $instead := ternary " and set nodes: its pods restart from the newest checkpoint" "" (eq $kind "TrainJob") -}}
{{- fail (printf "elastic: kind %s has a fixed number of pods; remove it%s, or write kind PyTorchJob" $kind $instead) -}}
{{- end -}}
{{- if not (include "training-job.isPyTorch" .) -}}
{{- include "training-job.checkOtherKind" . -}}
{{- end -}}
{{- $servers := dict "tensorflow.parameterServers.count" .Values.tensorflow.parameterServers.count
    "tensorflow.evaluator" .Values.tensorflow.evaluator "paddle.parameterServers.count" .Values.paddle.parameterServers.count -}}
{{- range $key, $value := $servers -}}
{{- $owner := ternary "TFJob" "PaddleJob" (hasPrefix "tensorflow" $key) -}}
{{- if and $value (ne $kind $owner) -}}
{{- fail (printf "%s: a %s has no such pods; remove it, or write kind %s" $key $kind $owner) -}}
{{- end -}}
{{- end -}}
{{- if and (eq $kind "XGBoostJob") (eq .Values.layout "worker-only") -}}
{{- fail "layout: the operator refuses an XGBoostJob without a Master; write master-worker" -}}
{{- end -}}
{{- if and (eq $kind "PaddleJob") (not .Values.train.script) -}}
{{- fail "train.script is empty: paddle.distributed.launch starts files, not modules; name a file in the image" -}}
{{- end -}}
{{- if eq $kind "MPIJob" -}}
{{- include "training-job.checkMpi" . -}}
{{- end -}}
{{- if eq $kind "TrainJob" -}}
{{- include "training-job.checkTrainJob" . -}}
{{- end -}}
{{- $isOld := eq (include "training-job.operator" .) "training-operator" -}}
{{- if and $isOld (hasKey (.Values.podSecurityContext | default dict) "seLinuxChangePolicy") -}}
{{- $reason := printf "the definition of a %s is older than this field and drops it" $kind -}}
{{- fail (printf "podSecurityContext.seLinuxChangePolicy: %s; remove it, or write kind TrainJob" $reason) -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkOtherKind: fails for features that only PyTorch has. Takes the root context. */}}
{{- define "training-job.checkOtherKind" -}}
{{- $kind := .Values.kind -}}
{{- if has .Values.launcher (list "accelerate" "deepspeed") -}}
{{- $advice := "remove it, or write kind PyTorchJob" -}}
{{- fail (printf "launcher: %s is for PyTorchJob and TrainJob, not for kind %s; %s" .Values.launcher $kind $advice) -}}
{{- end -}}
{{- if .Values.torchrun.args -}}
{{- $advice := "remove them, or write train.command or train.args" -}}
{{- fail (printf "torchrun.args: kind %s runs no torchrun; %s" $kind $advice) -}}
{{- end -}}
{{- $processes := .Values.processesPerNode -}}
{{- if kindIs "string" $processes -}}
{{- $advice := "write the number of processes of a pod" -}}
{{- fail (printf "processesPerNode: %s is for torchrun, which does not start a %s; %s" $processes $kind $advice) -}}
{{- end -}}
{{- if and (gt (int $processes) 1) (include "training-job.isSingleProcess" .) -}}
{{- $advice := "set it to 1, and use all devices of the pod in one process" -}}
{{- fail (printf "processesPerNode: the operator counts each pod of this %s as one process; %s" $kind $advice) -}}
{{- end -}}
{{- end -}}
