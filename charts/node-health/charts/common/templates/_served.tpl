{{/*
APIs that the cluster serves, and the queue of Kueue that a release names in `scheduling.queue`. Every helper takes the root
context.
*/}}

{{/*
common.isKnown: "true" if the capabilities are those of a cluster: each serves this API, and Helm's own list for
`helm template` lacks it.
*/}}
{{- define "common.isKnown" -}}
{{- if .Capabilities.APIVersions.Has "apiregistration.k8s.io/v1" -}}true{{- end -}}
{{- end -}}

{{/* common.queueVersion: the API version of Kueue that the cluster serves, or "". */}}
{{- define "common.queueVersion" -}}
{{- $served := "" -}}
{{- range $version := list "kueue.x-k8s.io/v1beta1" "kueue.x-k8s.io/v1beta2" -}}
{{- if $.Capabilities.APIVersions.Has (printf "%s/LocalQueue" $version) -}}
{{- $served = $version -}}
{{- end -}}
{{- end -}}
{{- $served -}}
{{- end -}}

{{/*
common.checkQueue: fails if Kueue or the queue of a new run is missing. `lookup` finds nothing in Argo CD and
in `helm template`: only where it finds the ServiceAccount that each namespace has is a missing queue known to be
missing.
*/}}
{{- define "common.checkQueue" -}}
{{- $queue := .Values.scheduling.queue -}}
{{- $version := include "common.queueVersion" . -}}
{{- if and $queue.name (include "common.isKnown" .) (not $version) -}}
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

{{/* common.queueLabels: the labels of a job by which Kueue takes it. */}}
{{- define "common.queueLabels" -}}
{{- with .Values.scheduling.queue.name }}
kueue.x-k8s.io/queue-name: {{ . | quote }}
{{- end }}
{{- with .Values.scheduling.queue.priorityClassName }}
kueue.x-k8s.io/priority-class: {{ . | quote }}
{{- end }}
{{- end -}}

{{/*
common.queueSuspend: the field `suspend` of a new job with a queue: Kueue's webhook sets it only if Kueue manages the kind.
Without a cluster the field is left to the webhook: Argo CD would set it back for as long as the job is admitted.
*/}}
{{- define "common.queueSuspend" -}}
{{- with include "common.queueVersion" . -}}
{{- if lookup . "LocalQueue" $.Release.Namespace $.Values.scheduling.queue.name -}}
suspend: true
{{- end -}}
{{- end -}}
{{- end -}}
