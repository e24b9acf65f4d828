{{/*
Kueue's objects from `queues`. Kueue refuses much of what is checked here by a webhook, in words that name no value, and
takes some of it: a run then waits for ever.
*/}}

{{/*
training-platform.queueApi: the newest version that Kueue serves here; v1beta1 is gone from 0.20 on. Where no cluster
answers, as under `helm template`, it is the newest of all.
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

{{/* training-platform.topologyName: the Topology of all flavours. */}}
{{- define "training-platform.topologyName" -}}
{{ .Release.Name }}
{{- end -}}

{{/* training-platform.checkQueues: fails for queues that would admit no run, or other runs than was meant. */}}
{{- define "training-platform.checkQueues" -}}
{{- $queues := .Values.queues -}}
{{- if $queues.enabled -}}
{{- $_ := include "training-platform.queueApi" . -}}
{{- if not $queues.clusterQueues -}}
{{- fail "queues.clusterQueues is empty: name a queue, its namespaces and its quotas, or write queues.enabled: false" -}}
{{- end -}}
{{- include "training-platform.checkFlavors" . -}}
{{- $names := list -}}
{{- $namespaces := dict -}}
{{- range $queue := $queues.clusterQueues -}}
{{- if has $queue.name $names -}}
{{- fail (printf "queues.clusterQueues: %s is there twice; give each queue a name of its own" $queue.name) -}}
{{- end -}}
{{- $names = append $names $queue.name -}}
{{- range $queue.namespaces -}}
{{- if hasKey $namespaces . -}}
{{- $advice := "name it in one of them: both would make its LocalQueue" -}}
{{- fail (printf "queues.clusterQueues: namespace %s is in %s and in %s; %s" . (get $namespaces .) $queue.name $advice) -}}
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
{{- fail (printf "queues.flavors: %s is there twice; give each flavour a name of its own" $flavor.name) -}}
{{- end -}}
{{- $names = append $names $flavor.name -}}
{{- if and $.Values.queues.topologyLevels (not $flavor.nodeLabels) -}}
{{- $advice := "write the labels of its nodes, or remove queues.topologyLevels" -}}
{{- fail (printf "queues.flavors: %s: nodeLabels are missing, by which Kueue finds its nodes; %s" $flavor.name $advice) -}}
{{- end -}}
{{- end -}}
{{- if has "kubernetes.io/hostname" (initial (.Values.queues.topologyLevels | default (list ""))) -}}
{{- fail "queues.topologyLevels: kubernetes.io/hostname is one node and holds no other level; write it last" -}}
{{- end -}}
{{- end -}}

{{/* training-platform.checkQuotas: fails for quotas of a queue. Takes (dict "queue" <one of the queues> "root" <root context>). */}}
{{- define "training-platform.checkQuotas" -}}
{{- $where := printf "queues.clusterQueues: %s:" .queue.name -}}
{{- $flavors := list -}}
{{- range .root.Values.queues.flavors -}}{{- $flavors = append $flavors .name -}}{{- end -}}
{{- $resources := (first .queue.quotas).resources | keys | sortAlpha -}}
{{- $given := list -}}
{{- range $quota := .queue.quotas -}}
{{- if not (has $quota.flavor $flavors) -}}
{{- $known := ternary (join ", " $flavors) "none" (not (empty $flavors)) -}}
{{- fail (printf "%s flavor %s is none of queues.flavors (%s); write one of them, or add it" $where $quota.flavor $known) -}}
{{- end -}}
{{- if has $quota.flavor $given -}}
{{- fail (printf "%s flavor %s has two quotas; write one" $where $quota.flavor) -}}
{{- end -}}
{{- $given = append $given $quota.flavor -}}
{{- if ne (join " " $resources) ($quota.resources | keys | sortAlpha | join " ") -}}
{{- $advice := printf "write all of %s for each flavour, 0 where it has none" (join ", " $resources) -}}
{{- fail (printf "%s flavor %s has quotas of other resources than %s; %s" $where $quota.flavor (first $.queue.quotas).flavor $advice) -}}
{{- end -}}
{{- range $field := list "borrowingLimits" "lendingLimits" -}}
{{- range $name := get $quota $field | default dict | keys | sortAlpha -}}
{{- if not $.queue.cohort -}}
{{- fail (printf "%s %s: a queue without a cohort lends and borrows nothing; write cohort, or remove them" $where $field) -}}
{{- else if not (has $name $resources) -}}
{{- fail (printf "%s %s.%s: there is no quota of %s; write resources.%s" $where $field $name $name $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range list "cpu" "memory" -}}
{{- if not (has . $resources) -}}
{{- fail (printf "%s there is no quota of %s, which every run asks for, and Kueue would admit none; write resources.%s" $where . .) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.uncounted: resources that a run asks for with the fabric's devices and the quotas of a queue do not name,
as JSON. Kueue admits no run that asks for a resource without a quota: these get one that never ends, because devices come
with the GPUs. Takes (dict "queue" <one of the queues> "root" <root context>).
*/}}
{{- define "training-platform.uncounted" -}}
{{- $uncounted := list -}}
{{- range include "training-platform.resources" .root | fromJsonArray -}}
{{- if not (hasKey (first $.queue.quotas).resources .) -}}{{- $uncounted = append $uncounted . -}}{{- end -}}
{{- end -}}
{{- toJson $uncounted -}}
{{- end -}}
