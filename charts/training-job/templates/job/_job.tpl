{{/*
Common parts of the objects of all kinds. Every helper takes the root context.
*/}}

{{/* training-job.apiVersion: that of the run's object. */}}
{{- define "training-job.apiVersion" -}}
{{- get (include "training-job.apiVersions" . | fromYaml) .Values.kind -}}
{{- end -}}

{{/* training-job.apiVersions: that of each kind, as YAML. */}}
{{- define "training-job.apiVersions" -}}
{{- $others := dict "MPIJob" (include "training-job.mpiVersion" .) "TrainJob" "trainer.kubeflow.org/v1alpha1" -}}
{{- range $kind := keys (include "training-job.kinds" . | fromYaml) | sortAlpha }}
{{ $kind }}: {{ get $others $kind | default "kubeflow.org/v1" }}
{{- end }}
{{- end -}}

{{/*
training-job.metadata: the metadata of the run's object. Expensive checks run here, once, and not in every template: if one
fails, Helm creates no object at all.
*/}}
{{- define "training-job.metadata" -}}
{{- include "common.checkFormats" . -}}
{{- include "common.checkResources" (dict "root" . "paths" (list "resources" "mpi.launcher.resources"
    "tensorflow.parameterServers.resources" "paddle.parameterServers.resources" "dataset.resources"
    "tensorboard.resources")) -}}
{{- include "common.checkSecurity" . -}}
{{- include "training-job.checkUserContainers" . -}}
{{- range $key := list "jobLabels" "jobAnnotations" -}}
{{- range $name := keys (get $.Values $key) | sortAlpha -}}
{{- if regexMatch "^(trainyard|kueue[.]x-k8s[.]io)/" $name -}}
{{- fail (printf "%s.%s: the chart writes keys of this prefix; use scheduling or upgrade" $key $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $processes := include "training-job.processes" . -}}
{{- if regexMatch "^[0-9]+$" $processes -}}
{{- /* As a number it has the digest that earlier versions of the chart recorded. */}}
{{- $processes = int64 $processes -}}
{{- end -}}
name: {{ include "training-job.name" . | quote }}
namespace: {{ .Release.Namespace | quote }}
labels:
  {{- /* Trainer's webhook would look in its cache for the runtime, which was created a moment ago. */}}
  {{- $own := ternary (dict "trainer.kubeflow.org/webhook-validation" "disabled") dict (eq .Values.kind "TrainJob") }}
  {{- merge (include "common.labels" . | fromYaml) (include "common.queueLabels" . | fromYaml) $own .Values.jobLabels
      | toYaml | nindent 2 }}
annotations:
  {{- if .Values.elastic.enabled }}
  trainyard/nodes: {{ int .Values.nodes | quote }}
  {{- end }}
  {{- with .Values.jobAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- include "training-job.records" (dict "root" . "kind" .Values.kind
      "apiVersion" (include "training-job.apiVersion" .)
      "pods" (include "training-job.pods" . | fromYaml)
      "rest" (dict
        "replicas" (include "training-job.fixedReplicas" . | fromYaml)
        "elasticPolicy" (omit (include "training-job.elasticPolicy" . | fromYaml) "metrics")
        "files" (include "training-job.launchFiles" . | fromYaml)
        "dataset" (include "training-job.datasetPlan" .)
        "restartPolicy" .Values.restartPolicy
        "nprocPerNode" $processes
        "queue" (include "common.queueLabels" . | fromYaml)
        "policy" (include "training-job.fixedPolicy" . | fromYaml)
        "managedBy" .Values.runPolicy.managedBy)) | nindent 2 }}
{{- end -}}

{{/* training-job.pods: the pod templates that differ, by name, as YAML: the nodes of a PyTorch run are all alike. */}}
{{- define "training-job.pods" -}}
{{- $pods := dict -}}
{{- range $role, $part := include "training-job.roles" . | fromYaml -}}
{{- $name := ternary (lower $role) "pod" (empty (include "training-job.isPyTorch" $)) -}}
{{- $pod := include "training-job.pod" (dict "root" $ "role" $role "part" $part) | fromYaml -}}
{{- $_ := set $pods $name $pod -}}
{{- end -}}
{{- toYaml $pods -}}
{{- end -}}

{{/*
training-job.fixedReplicas: the number of pods of each role, as YAML; empty in an elastic run, where it changes. The zeros
are part of the records of active runs.
*/}}
{{- define "training-job.fixedReplicas" -}}
{{- $replicas := dict -}}
{{- if not .Values.elastic.enabled -}}
{{- $replicas = dict "Master" 0 "Worker" 0 -}}
{{- range $role, $part := include "training-job.roles" . | fromYaml -}}
{{- $_ := set $replicas $role (int $part.replicas) -}}
{{- end -}}
{{- end -}}
{{- toYaml $replicas -}}
{{- end -}}

{{/* training-job.runPolicy: the policy of the run. */}}
{{- define "training-job.runPolicy" -}}
{{- $policy := .Values.runPolicy -}}
backoffLimit: {{ include "training-job.backoffLimit" . }}
cleanPodPolicy: {{ include "training-job.cleanPodPolicy" . | quote }}
{{- with include "training-job.suspend" . }}
{{ . }}
{{- end }}
{{- with $policy.managedBy }}
managedBy: {{ . | quote }}
{{- end }}
{{- with include "training-job.schedulingPolicy" . }}
schedulingPolicy:
  {{- . | nindent 2 }}
{{- end }}
{{- range $field := list "activeDeadlineSeconds" "ttlSecondsAfterFinished" }}
{{- if not (kindIs "invalid" (index $policy $field)) }}
{{ $field }}: {{ index $policy $field | int64 }}
{{- end }}
{{- end }}
{{- end -}}

{{/* training-job.replicaSpecs: the roles with their pods. */}}
{{- define "training-job.replicaSpecs" -}}
{{- range $role, $part := include "training-job.roles" . | fromYaml }}
{{ $role }}:
  replicas: {{ include "training-job.replicas" (dict "root" $ "role" $role "part" $part) }}
  restartPolicy: {{ $.Values.restartPolicy }}
  template:
    {{- include "training-job.pod" (dict "root" $ "role" $role "part" $part) | nindent 4 }}
{{- end }}
{{- end -}}
