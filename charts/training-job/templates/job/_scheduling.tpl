{{/*
Scheduling of the run's start: a queue of Kueue, or a gang scheduler that places all pods or none. Every helper takes the
root context.
*/}}

{{/*
training-job.topologyAnnotations: requests of the pods for Kueue's topology-aware scheduling. The Master and the Workers are
two pod sets, which Kueue would place separately: the group keeps them in one domain.
*/}}
{{- define "training-job.topologyAnnotations" -}}
{{- $topology := .Values.scheduling.queue.topology -}}
{{- if eq $topology.mode "unconstrained" }}
kueue.x-k8s.io/podset-unconstrained-topology: "true"
{{- else if ne $topology.mode "none" }}
kueue.x-k8s.io/podset-{{ $topology.mode }}-topology: {{ $topology.level | quote }}
{{- if and (eq (include "training-job.layout" .) "master-worker") (gt (int .Values.nodes) 1) }}
kueue.x-k8s.io/podset-group-name: {{ include "training-job.name" . | quote }}
{{- end }}
{{- end }}
{{- with $topology.sliceLevel }}
kueue.x-k8s.io/podset-slice-required-topology: {{ . | quote }}
kueue.x-k8s.io/podset-slice-size: {{ $topology.sliceSize | int64 | toString | quote }}
{{- end }}
{{- end -}}

{{/* training-job.schedulerName: the scheduler of the pods; empty means the cluster's default. */}}
{{- define "training-job.schedulerName" -}}
{{- $gang := .Values.scheduling.gang -}}
{{- $usual := dict "none" "" "volcano" "volcano" "scheduler-plugins" "scheduler-plugins-scheduler" -}}
{{- .Values.placement.schedulerName | default $gang.schedulerName | default (get $usual $gang.scheduler) -}}
{{- end -}}

{{/*
training-job.gangSize: the number of pods at the start, or the minimum of an elastic run. A launcher that waits until its
Workers are ready is not counted, or they would wait for each other forever.
*/}}
{{- define "training-job.gangSize" -}}
{{- $size := 0 -}}
{{- $waits := eq .Values.mpi.launcher.creationPolicy "WaitForWorkersReady" -}}
{{- $isLate := and $waits (eq (include "training-job.operator" .) "mpi-operator") -}}
{{- range $role, $part := include "training-job.roles" . | fromYaml -}}
{{- $size = add $size (ternary 0 $part.replicas (and $isLate (eq $role "Launcher"))) -}}
{{- end -}}
{{- ternary .Values.elastic.minNodes $size .Values.elastic.enabled | int64 -}}
{{- end -}}

{{/*
training-job.schedulingPolicy: what the operator writes into the PodGroup that it makes for the run. Empty without a
gang scheduler.
*/}}
{{- define "training-job.schedulingPolicy" -}}
{{- $gang := .Values.scheduling.gang -}}
{{- if ne $gang.scheduler "none" -}}
minAvailable: {{ include "training-job.gangSize" . }}
{{- with $gang.queue }}
queue: {{ . | quote }}
{{- end }}
{{- if eq $gang.scheduler "volcano" }}
{{- with $gang.priorityClassName | default .Values.placement.priorityClassName }}
priorityClass: {{ . | quote }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" $gang.timeoutSeconds) }}
scheduleTimeoutSeconds: {{ $gang.timeoutSeconds | int64 }}
{{- end }}
{{- with $gang.minResources }}
minResources:
  {{- include "common.quantities" . | nindent 2 }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* training-job.checkScheduling: fails for queues and gangs that contradict each other or the rest of the values. */}}
{{- define "training-job.checkScheduling" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "scheduling" "scheduling.queue"
    "scheduling.queue.topology" "scheduling.queue.topology.mode" "scheduling.gang" "scheduling.gang.scheduler")) -}}
{{- include "training-job.checkQueue" . -}}
{{- include "training-job.checkTopology" . -}}
{{- include "training-job.checkGang" . -}}
{{- end -}}

{{/* training-job.checkQueue: Kueue unsuspends admitted runs, so `suspend` of the user would have no effect. */}}
{{- define "training-job.checkQueue" -}}
{{- $queue := .Values.scheduling.queue -}}
{{- if and (not $queue.name) (or $queue.priorityClassName (ne $queue.topology.mode "none")) -}}
{{- $what := ternary "priorityClassName" "topology" (not (empty $queue.priorityClassName)) -}}
{{- $advice := "set scheduling.queue.name" -}}
{{- fail (printf "scheduling.queue.%s has no effect without a queue: %s" $what $advice) -}}
{{- end -}}
{{- if and $queue.name .Values.runPolicy.suspend -}}
{{- $advice := "to suspend it, set `active: false` in its Workload" -}}
{{- fail (printf "runPolicy.suspend: Kueue starts a run of scheduling.queue when the queue has capacity; %s" $advice) -}}
{{- end -}}
{{- end -}}

{{/*
training-job.checkTopology: fails for settings that Kueue's webhook refuses only when the job is created, and for slices
that it would accept but could not fill (Kueue v0.19.2, pkg/controller/jobframework/tas_validation.go; keps/2724-topology-aware-scheduling).
Kueue also places slices of a run that has no level for all of its pods, which the values do not offer.
*/}}
{{- define "training-job.checkTopology" -}}
{{- $topology := .Values.scheduling.queue.topology -}}
{{- $placed := has $topology.mode (list "required" "preferred") -}}
{{- if and $placed (not $topology.level) -}}
{{- fail (printf "scheduling.queue.topology.mode is %s: name the level in topology.level" $topology.mode) -}}
{{- end -}}
{{- if and $topology.level (not $placed) -}}
{{- fail "scheduling.queue.topology.level: set topology.mode to required or preferred, or remove the level" -}}
{{- end -}}
{{- if ne (empty $topology.sliceLevel) (kindIs "invalid" $topology.sliceSize) -}}
{{- fail "scheduling.queue.topology: sliceLevel and sliceSize go together: set both or none" -}}
{{- end -}}
{{- if $topology.sliceLevel -}}
{{- if not $placed -}}
{{- fail "scheduling.queue.topology.sliceLevel: set topology.mode to required or preferred, and topology.level" -}}
{{- end -}}
{{- if and (eq (include "training-job.layout" .) "master-worker") (gt (int .Values.nodes) 1) -}}
{{- fail "scheduling.queue.topology.sliceLevel: Kueue divides only the Workers into slices: use layout worker-only" -}}
{{- end -}}
{{- if ne (mod .Values.nodes $topology.sliceSize | int) 0 -}}
{{- $reason := printf "sliceSize %d does not divide nodes %d" (int $topology.sliceSize) (int .Values.nodes) -}}
{{- fail (printf "scheduling.queue.topology: %s" $reason) -}}
{{- end -}}
{{- end -}}
{{- if and (ne $topology.mode "none") .Values.placement.colocate.level -}}
{{- $advice := "keep one of the two" -}}
{{- fail (printf "placement.colocate and scheduling.queue.topology both place the pods: %s" $advice) -}}
{{- end -}}
{{- end -}}

{{/*
training-job.checkGang: fails for fields that the operator drops silently, because the PodGroup of the scheduler lacks them
(training operator v1.9.3, pkg/controller.v1/common/job.go: ReconcileJobs).
*/}}
{{- define "training-job.checkGang" -}}
{{- $gang := .Values.scheduling.gang -}}
{{- if eq $gang.scheduler "none" -}}
{{- range $key := list "schedulerName" "queue" "priorityClassName" "timeoutSeconds" "minResources" -}}
{{- if not (empty (index $gang $key)) -}}
{{- fail (printf "scheduling.gang.%s has no effect: set scheduling.gang.scheduler, or remove it" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if and (eq $gang.scheduler "volcano") .Values.scheduling.queue.name -}}
{{- $reason := "both queue runs by their own quotas" -}}
{{- $advice := "use scheduling.gang.queue of Volcano, or scheduling.queue with another scheduler" -}}
{{- fail (printf "scheduling.queue and gang scheduler volcano: %s; %s" $reason $advice) -}}
{{- end -}}
{{- if and (eq $gang.scheduler "volcano") (not (kindIs "invalid" $gang.timeoutSeconds)) -}}
{{- fail "scheduling.gang.timeoutSeconds: Volcano has no such timeout; it is for scheduler-plugins" -}}
{{- end -}}
{{- if eq $gang.scheduler "scheduler-plugins" -}}
{{- range $key := list "queue" "priorityClassName" -}}
{{- if index $gang $key -}}
{{- fail (printf "scheduling.gang.%s: a PodGroup of scheduler-plugins has none; it is for volcano" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
