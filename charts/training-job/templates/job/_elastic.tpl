{{/*
Elastic runs: torchrun continues with fewer pods, and includes new ones. Sources: training operator v1.9.3
(pkg/controller.v1/pytorch/elastic.go, hpa.go) and torch 2.15 (distributed/elastic).
*/}}

{{/*
training-job.elasticPolicy: the policy that the operator converts into PET_* variables. The agent of worker 0 hosts the
store of the rendezvous. It recognizes itself by its host name, `<release>-worker-0`, which is also the name of the headless
Service that the operator keeps for it as long as the job exists. A Service of the chart would have another name, and worker
0 would host the store only if DNS already resolved its address at the start. `standalone` is never set, because torchrun
cannot parse the empty variable that the operator sets for it. Empty for a run that is not elastic.
*/}}
{{- define "training-job.elasticPolicy" -}}
{{- $elastic := .Values.elastic -}}
{{- if $elastic.enabled -}}
{{- $timeout := .Values.torchrun.timeoutSeconds | int | toString -}}
minReplicas: {{ int $elastic.minNodes }}
maxReplicas: {{ include "training-job.mostNodes" . }}
maxRestarts: {{ int $elastic.maxRestarts }}
rdzvBackend: c10d
rdzvId: {{ include "training-job.name" . | quote }}
rdzvConf:
  - key: read_timeout
    value: {{ $timeout | quote }}
  - key: join_timeout
    value: {{ $timeout | quote }}
  - key: last_call_timeout
    value: {{ $elastic.lastCallSeconds | int | quote }}
  - key: keep_alive_interval
    value: {{ $elastic.keepAliveSeconds | int | quote }}
{{- with $elastic.metrics }}
metrics:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
training-job.replicas: the number of pods of a role. An upgrade of an elastic run keeps what an autoscaler or `kubectl scale`
has set, unless it changes `nodes`: Helm 4 would end with a conflict, and Helm 3 would undo it. Takes (dict "root" <root
context> "role" <role> "part" <its entry of training-job.roles>).
*/}}
{{- define "training-job.replicas" -}}
{{- $replicas := int .part.replicas -}}
{{- if .root.Values.elastic.enabled -}}
{{- $live := include "training-job.live" .root | fromYaml -}}
{{- $nodes := get (($live.metadata | default dict).annotations | default dict) "trainyard/nodes" -}}
{{- $role := get (($live.spec | default dict).pytorchReplicaSpecs | default dict) .role | default dict -}}
{{- $size := int ($role.replicas | default 0) -}}
{{- $others := sub (int .root.Values.nodes) $replicas -}}
{{- $fits := and (le $size (int .part.most)) (ge (add $size $others) (int64 .root.Values.elastic.minNodes)) -}}
{{- if and (eq $nodes (int .root.Values.nodes | toString)) $size $fits -}}
{{- $replicas = $size -}}
{{- end -}}
{{- end -}}
{{- $replicas -}}
{{- end -}}

{{/*
training-job.checkElastic: fails for values that prevent recovery or a change of the size (Kueue v0.19.2,
pkg/controller/jobframework/reconciler.go: ensureOneWorkload).
*/}}
{{- define "training-job.checkElastic" -}}
{{- $elastic := .Values.elastic -}}
{{- if $elastic.enabled -}}
{{- $nodes := int .Values.nodes -}}
{{- $least := int $elastic.minNodes -}}
{{- $most := include "training-job.mostNodes" . | int -}}
{{- if or (lt $nodes $least) (gt $nodes $most) -}}
{{- $range := printf "elastic.minNodes %d and elastic.maxNodes %d" $least $most -}}
{{- fail (printf "nodes is %d: an elastic run starts with a number between %s" $nodes $range) -}}
{{- end -}}
{{- if not (has .Values.launcher (list "torchrun" "deepspeed")) -}}
{{- $reason := printf "launcher %s starts a fixed number of processes" .Values.launcher -}}
{{- fail (printf "elastic: %s; set launcher to torchrun or deepspeed" $reason) -}}
{{- end -}}
{{- if has .Values.restartPolicy (list "Never" "ExitCode") -}}
{{- $reason := "torchrun ends with code 1 when it loses its peers, which would fail the run" -}}
{{- fail (printf "restartPolicy is %s: %s; set it to OnFailure" .Values.restartPolicy $reason) -}}
{{- end -}}
{{- if ge (int $elastic.lastCallSeconds) (int .Values.torchrun.timeoutSeconds) -}}
{{- $reason := printf "the rendezvous times out after torchrun.timeoutSeconds, %d" (int .Values.torchrun.timeoutSeconds) -}}
{{- fail (printf "elastic.lastCallSeconds is %d: %s; lower it" (int $elastic.lastCallSeconds) $reason) -}}
{{- end -}}
{{- range $argument := .Values.torchrun.args -}}
{{- if regexMatch "^--(nnodes|standalone|rdzv[-_].*)(=|$)" (toString $argument) -}}
{{- fail (printf "torchrun.args: %v would override elastic; remove it" $argument) -}}
{{- end -}}
{{- end -}}
{{- if and $elastic.metrics .Values.scheduling.queue.name -}}
{{- $reason := "Kueue stops a run whose number of pods differs from the admitted number" -}}
{{- fail (printf "elastic.metrics and scheduling.queue: %s; remove one of the two" $reason) -}}
{{- end -}}
{{- include "training-job.checkMetrics" . -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkMetrics: a utilization is relative to the request, so without one the autoscaler never acts. */}}
{{- define "training-job.checkMetrics" -}}
{{- $resources := dict -}}
{{- include "common.podResources" (dict "root" . "into" $resources) -}}
{{- $reserved := merge (deepCopy $resources.requests) $resources.limits -}}
{{- range $metric := .Values.elastic.metrics -}}
{{- range $source := list "resource" "containerResource" -}}
{{- with get $metric $source -}}
{{- $name := get . "name" | toString -}}
{{- $kind := get (get . "target" | default dict) "type" | toString -}}
{{- if and (eq $kind "Utilization") (not (hasKey $reserved $name)) -}}
{{- fail (printf "elastic.metrics: a utilization of %s needs a request; set resources.requests.%s" $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
