{{/*
What the cluster serves. A run whose kind or queue is missing would end with a raw error of the API server, or start without
the queue.
*/}}

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
{{- if and (include "common.isKnown" .) (not (.Capabilities.APIVersions.Has $api)) -}}
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
{{- if hasKey $holder "suspend" -}}
suspend: {{ $holder.suspend }}
{{- else if not $live -}}
{{- include "common.queueSuspend" . -}}
{{- end -}}
{{- end -}}
{{- end -}}
