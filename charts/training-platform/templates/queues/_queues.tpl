{{/*
Kueue's objects from `queues`. Kueue's webhook refuses many of the errors that are checked here, but its messages name
no value. It admits other errors, and a run then waits forever.
*/}}

{{/*
training-platform.queueApi: the newest API version that the cluster serves for Kueue; Kueue 0.20 removes v1beta1.
Without a cluster, as under `helm template`, it is the newest version.
*/}}
{{- define "training-platform.queueApi" -}}
{{- $served := list -}}
{{- range list "kueue.x-k8s.io/v1beta2" "kueue.x-k8s.io/v1beta1" -}}
{{- if $.Capabilities.APIVersions.Has . -}}{{- $served = append $served . -}}{{- end -}}
{{- end -}}
{{- if and (not $served) (lookup "v1" "Namespace" "" "kube-system") -}}
{{- $advice := "install Kueue 0.14 or newer first, or write queues.enabled: false until then" -}}
{{- fail (printf "queues.enabled: this cluster serves no kueue.x-k8s.io/v1beta1 or v1beta2: %s" $advice) -}}
{{- end -}}
{{- append $served "kueue.x-k8s.io/v1beta2" | first -}}
{{- end -}}

{{/* training-platform.topologyName: the name of the Topology of all flavours. */}}
{{- define "training-platform.topologyName" -}}
{{ .Release.Name }}
{{- end -}}

{{/* training-platform.checkQueues: fails for queues that would admit no runs, or the wrong ones. */}}
{{- define "training-platform.checkQueues" -}}
{{- $queues := .Values.queues -}}
{{- if $queues.enabled -}}
{{- $_ := include "training-platform.queueApi" . -}}
{{- if not $queues.clusterQueues -}}
{{- fail "queues.clusterQueues is empty: add a queue with its namespaces and quotas, or write queues.enabled: false" -}}
{{- end -}}
{{- include "training-platform.checkFlavors" . -}}
{{- $names := list -}}
{{- $namespaces := dict -}}
{{- range $queue := $queues.clusterQueues -}}
{{- if has $queue.name $names -}}
{{- fail (printf "queues.clusterQueues: %s is defined twice; give each queue a unique name" $queue.name) -}}
{{- end -}}
{{- $names = append $names $queue.name -}}
{{- range $queue.namespaces -}}
{{- if hasKey $namespaces . -}}
{{- $advice := "name it in only one of them, because a namespace has one LocalQueue" -}}
{{- fail (printf "queues.clusterQueues: namespace %s belongs to %s and to %s; %s" . (get $namespaces .) $queue.name $advice) -}}
{{- end -}}
{{- $_ := set $namespaces . $queue.name -}}
{{- end -}}
{{- include "training-platform.checkQuotas" (dict "queue" $queue "root" $) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-platform.checkFlavors: fails for flavours and levels that Kueue refuses. */}}
{{- define "training-platform.checkFlavors" -}}
{{- $names := list -}}
{{- range $flavor := .Values.queues.flavors -}}
{{- if has $flavor.name $names -}}
{{- fail (printf "queues.flavors: %s is defined twice; give each flavour a unique name" $flavor.name) -}}
{{- end -}}
{{- $names = append $names $flavor.name -}}
{{- if and $.Values.queues.topologyLevels (not $flavor.nodeLabels) -}}
{{- $advice := "write the labels of the flavour's nodes, or remove queues.topologyLevels" -}}
{{- fail (printf "queues.flavors: %s: nodeLabels are missing, which queues.topologyLevels requires; %s" $flavor.name $advice) -}}
{{- end -}}
{{- end -}}
{{- if has "kubernetes.io/hostname" (initial (.Values.queues.topologyLevels | default (list ""))) -}}
{{- fail "queues.topologyLevels: kubernetes.io/hostname is a single node and contains no other level; write it last" -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.checkQuotas: fails for invalid quotas of a queue. Takes (dict "queue" <one of the queues> "root" <root
context>).
*/}}
{{- define "training-platform.checkQuotas" -}}
{{- $where := printf "queues.clusterQueues: %s:" .queue.name -}}
{{- $flavors := list -}}
{{- range .root.Values.queues.flavors -}}{{- $flavors = append $flavors .name -}}{{- end -}}
{{- $resources := (first .queue.quotas).resources | keys | sortAlpha -}}
{{- $given := list -}}
{{- range $quota := .queue.quotas -}}
{{- if not (has $quota.flavor $flavors) -}}
{{- $known := ternary (join ", " $flavors) "none" (not (empty $flavors)) -}}
{{- fail (printf "%s flavor %s is not in queues.flavors (%s); write one of them, or add it" $where $quota.flavor $known) -}}
{{- end -}}
{{- if has $quota.flavor $given -}}
{{- fail (printf "%s flavor %s has two quotas; write only one" $where $quota.flavor) -}}
{{- end -}}
{{- $given = append $given $quota.flavor -}}
{{- if ne (join " " $resources) ($quota.resources | keys | sortAlpha | join " ") -}}
{{- $advice := printf "write %s for each flavour, with 0 for resources that it does not have" (join ", " $resources) -}}
{{- fail (printf "%s flavor %s has quotas for other resources than flavor %s; %s" $where $quota.flavor (first $.queue.quotas).flavor $advice) -}}
{{- end -}}
{{- range $field := list "borrowingLimits" "lendingLimits" -}}
{{- range $name := get $quota $field | default dict | keys | sortAlpha -}}
{{- if not $.queue.cohort -}}
{{- fail (printf "%s %s: a queue without a cohort cannot lend or borrow; write cohort, or remove the limits" $where $field) -}}
{{- else if not (has $name $resources) -}}
{{- fail (printf "%s %s.%s: the flavor has no quota for %s; write resources.%s" $where $field $name $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range list "cpu" "memory" -}}
{{- if not (has . $resources) -}}
{{- fail (printf "%s the queue has no quota for %s, which every run requests, so Kueue would admit no run; write resources.%s" $where . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.uncounted: resources of the fabric's devices that a run requests and that the quotas of a queue do not
name, as JSON. Kueue admits no run that requests a resource without a quota. These resources get an unlimited quota,
because the devices come with the GPUs. Takes (dict "queue" <one of the queues> "root" <root context>).
*/}}
{{- define "training-platform.uncounted" -}}
{{- $uncounted := list -}}
{{- range include "training-platform.resources" .root | fromJsonArray -}}
{{- if not (hasKey (first $.queue.quotas).resources .) -}}{{- $uncounted = append $uncounted . -}}{{- end -}}
{{- end -}}
{{- toJson $uncounted -}}
{{- end -}}
