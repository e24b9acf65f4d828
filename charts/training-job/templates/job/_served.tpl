{{/*
What the cluster serves. A run whose kind or queue is missing would end with a raw error of the API server, or start without
the queue.
*/}}

{{/*
training-job.isKnown: "true" if the capabilities are those of a cluster: each serves this API, and Helm's own list for
`helm template` lacks it. Takes the root context.
*/}}
{{- define "training-job.isKnown" -}}
{{- if .Capabilities.APIVersions.Has "apiregistration.k8s.io/v1" -}}true{{- end -}}
{{- end -}}

{{/*
training-job.mpiVersion: the API version of an MPIJob: the value, or the one that the cluster serves. Takes the root
context.
*/}}
{{- define "training-job.mpiVersion" -}}
{{- $served := "" -}}
{{- range $version := list "kubeflow.org/v1" "kubeflow.org/v2beta1" -}}
{{- if $.Capabilities.APIVersions.Has (printf "%s/MPIJob" $version) -}}
{{- $served = $version -}}
{{- end -}}
{{- end -}}
{{- .Values.mpi.apiVersion | default $served | default "kubeflow.org/v2beta1" -}}
{{- end -}}

{{/* training-job.checkServed: fails if the cluster does not serve the kind of the run. Takes the root context. */}}
{{- define "training-job.checkServed" -}}
{{- $api := printf "%s/%s" (include "training-job.apiVersion" .) .Values.kind -}}
{{- if and (include "training-job.isKnown" .) (not (.Capabilities.APIVersions.Has $api)) -}}
{{- $from := dict "trainer" "Kubeflow Trainer v2" "mpi-operator" "the MPI operator of Kubeflow"
    "training-operator" (printf "charts/training-operator with %s in `schemes`" (lower .Values.kind)) -}}
{{- $others := list -}}
{{- range $kind, $version := omit (include "training-job.apiVersions" . | fromYaml) .Values.kind -}}
{{- if $.Capabilities.APIVersions.Has (printf "%s/%s" $version $kind) -}}
{{- $others = append $others $kind -}}
{{- end -}}
{{- end -}}
{{- $advice := printf "install %s" (get $from (include "training-job.operator" .)) -}}
{{- $version := ternary "kubeflow.org/v1" "kubeflow.org/v2beta1" (eq (include "training-job.operator" .) "mpi-operator") -}}
{{- if and (eq .Values.kind "MPIJob") (.Capabilities.APIVersions.Has (printf "%s/MPIJob" $version)) -}}
{{- $advice = printf "%s, or write mpi.apiVersion %s, which it serves" $advice $version -}}
{{- else if $others -}}
{{- $advice = printf "%s, or write one of the kinds that it serves: %s" $advice (join ", " (sortAlpha $others)) -}}
{{- end -}}
{{- fail (printf "kind: the cluster does not serve %s: %s" $api $advice) -}}
{{- end -}}
{{- end -}}

{{/* training-job.queueVersion: the API version of Kueue that the cluster serves, or "". Takes the root context. */}}
{{- define "training-job.queueVersion" -}}
{{- $served := "" -}}
{{- range $version := list "kueue.x-k8s.io/v1beta1" "kueue.x-k8s.io/v1beta2" -}}
{{- if $.Capabilities.APIVersions.Has (printf "%s/LocalQueue" $version) -}}
{{- $served = $version -}}
{{- end -}}
{{- end -}}
{{- $served -}}
{{- end -}}

{{/*
training-job.checkQueueServed: fails if Kueue or the queue of a new run is missing. `lookup` finds nothing in Argo CD and
in `helm template`: only where it finds the ServiceAccount that each namespace has is a missing queue known to be
missing. Takes the root context.
*/}}
{{- define "training-job.checkQueueServed" -}}
{{- $queue := .Values.scheduling.queue -}}
{{- $version := include "training-job.queueVersion" . -}}
{{- if and $queue.name (include "training-job.isKnown" .) (not $version) -}}
{{- $advice := "install Kueue, or remove scheduling.queue.name to start the run at once" -}}
{{- fail (printf "scheduling.queue.name is %s: the cluster does not serve LocalQueue of Kueue; %s" $queue.name $advice) -}}
{{- end -}}
{{- if and $queue.name $queue.check $version .Release.IsInstall -}}
{{- $namespace := .Release.Namespace -}}
{{- if not (lookup $version "LocalQueue" $namespace $queue.name) -}}
{{- if lookup "v1" "ServiceAccount" $namespace "default" -}}
{{- $names := list -}}
{{- range (lookup $version "LocalQueue" $namespace "").items -}}
{{- $names = append $names .metadata.name -}}
{{- end -}}
{{- $has := printf "write one of its queues: %s" (sortAlpha $names | join ", ") -}}
{{- $advice := ternary $has "create the LocalQueue first" (not (empty $names)) -}}
{{- fail (printf "scheduling.queue.name is %s: namespace %s has no such LocalQueue; %s" $queue.name $namespace $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-job.live: the job of the run in the cluster, as YAML, or nothing. Takes the root context. */}}
{{- define "training-job.live" -}}
{{- $version := include "training-job.apiVersion" . -}}
{{- if and .Release.IsUpgrade (.Capabilities.APIVersions.Has (printf "%s/%s" $version .Values.kind)) -}}
{{- lookup $version .Values.kind .Release.Namespace (include "training-job.name" .) | toYaml -}}
{{- end -}}
{{- end -}}

{{/*
training-job.suspend: the field `suspend` of the job. With a queue the run is created suspended, because Kueue's webhook
does so only if Kueue manages the kind. An upgrade keeps the value of the cluster: another one would stop an admitted
run, or start a waiting one. Without a cluster the field is left to Kueue's webhook: Argo CD would set it back for as long
as the run is admitted. Takes the root context.
*/}}
{{- define "training-job.suspend" -}}
{{- if not .Values.scheduling.queue.name -}}
suspend: {{ .Values.runPolicy.suspend }}
{{- else -}}
{{- $live := include "training-job.live" . | fromYaml -}}
{{- $spec := $live.spec | default dict -}}
{{- $holder := ternary $spec ($spec.runPolicy | default dict) (eq .Values.kind "TrainJob") -}}
{{- $version := include "training-job.queueVersion" . -}}
{{- if hasKey $holder "suspend" -}}
suspend: {{ $holder.suspend }}
{{- else if and $version (not $live) -}}
{{- if lookup $version "LocalQueue" .Release.Namespace .Values.scheduling.queue.name -}}
suspend: true
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
