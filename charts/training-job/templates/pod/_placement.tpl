{{/*
Placement of the pods, relative to nodes and to each other. Every helper takes the root context unless it says otherwise.
*/}}

{{/*
training-job.ownPods: the selector of the pods that are the nodes of this run, by the labels that the operator puts on
them. Where pods that only serve them have the same, it names the roles.
*/}}
{{- define "training-job.ownPods" -}}
{{- $nodes := list -}}
{{- $others := list -}}
{{- range $role, $part := include "training-job.roles" . | fromYaml -}}
{{- if $part.node -}}
{{- $nodes = append $nodes (lower $role) -}}
{{- else -}}
{{- $others = append $others $role -}}
{{- end -}}
{{- end -}}
{{- $labels := include "training-job.podLabels" . | fromYaml -}}
matchLabels:
  {{ $labels.job }}: {{ include "training-job.name" . | quote }}
{{- if $others }}
matchExpressions:
  - key: {{ $labels.role }}
    operator: In
    values: {{ toJson $nodes }}
{{- end }}
{{- end -}}

{{/*
training-job.spread: `placement.spread` without `auto`. Required anti-affinity makes the scheduler compare each pod with the
nodes of all others, and keeps no pod away from a node whose accelerators are taken. A node has 8 of them, or 4 if NVLink
connects several nodes. Devices of `resourceClaims` are not counted, and MIG devices are parts of one.
*/}}
{{- define "training-job.spread" -}}
{{- $spread := .Values.placement.spread -}}
{{- if eq $spread "auto" -}}
{{- $ofNode := ternary 4 8 .Values.fabric.computeDomain.enabled -}}
{{- $names := keys (merge (deepCopy (.Values.resources.requests | default dict)) (.Values.resources.limits | default dict)) -}}
{{- $isMig := regexMatch "(^| )nvidia[.]com/mig-" (join " " $names) -}}
{{- $fillsNode := and (not $isMig) (ge (include "common.accelerators" . | int) $ofNode) -}}
{{- $isLarge := gt (include "training-job.mostNodes" . | int) 100 -}}
{{- $spread = ternary "none" "required" (and $fillsNode $isLarge) -}}
{{- end -}}
{{- $spread -}}
{{- end -}}

{{/*
training-job.affinity: `placement.affinity` with the rules of `nodes`, `healthLabels`, `spread` and `colocate`. A run of
one node needs no rule among its pods, and a pod that only serves them none to them. Gives YAML, `{}` when nothing is
asked for. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.affinity" -}}
{{- $isNode := .part.node -}}
{{- with .root -}}
{{- $placement := .Values.placement -}}
{{- $affinity := include "common.nodeAffinity" . | fromYaml -}}
{{- $many := and $isNode (gt (include "training-job.mostNodes" . | int) 1) -}}
{{- $mode := include "training-job.spread" . -}}
{{- $spread := and $many (ne $mode "none") -}}
{{- if and $spread (hasKey $affinity "podAntiAffinity") -}}
{{- $advice := "set placement.spread to none, or remove podAntiAffinity" -}}
{{- fail (printf "placement.spread and affinity.podAntiAffinity both control which pods share a node: %s" $advice) -}}
{{- end -}}
{{- $pods := include "training-job.ownPods" . | fromYaml -}}
{{- if $spread -}}
{{- $term := dict "labelSelector" $pods "topologyKey" "kubernetes.io/hostname" -}}
{{- $rule := include "common.podRule" (dict "term" $term "mode" $mode "weight" 100) | fromYaml -}}
{{- $_ := set $affinity "podAntiAffinity" $rule -}}
{{- end -}}
{{- $colocate := $placement.colocate -}}
{{- if and $many $colocate.level -}}
{{- $term := dict "labelSelector" $pods "topologyKey" $colocate.level -}}
{{- $rule := include "common.podRule" (dict "term" $term "mode" $colocate.mode "weight" $colocate.weight) -}}
{{- $rules := deepCopy ($affinity.podAffinity | default dict) -}}
{{- range $field, $terms := fromYaml $rule -}}
{{- $_ := set $rules $field (concat (get $rules $field | default list) $terms) -}}
{{- end -}}
{{- $_ := set $affinity "podAffinity" $rules -}}
{{- end -}}
{{- toYaml $affinity -}}
{{- end -}}
{{- end -}}

{{/*
training-job.topologySpread: {constraints: <topologySpreadConstraints>}, each of which counts this run's pods unless it
has a selector of its own. A hard spread over the level that holds the pods together would leave most of them Pending.
A pod that only serves the others is not spread. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.topologySpread" -}}
{{- $isNode := .part.node -}}
{{- with .root -}}
{{- $together := list -}}
{{- with .Values.placement.colocate.level -}}
{{- $together = append $together (list "placement.colocate.level" .) -}}
{{- end -}}
{{- with .Values.scheduling.queue.topology -}}
{{- if eq .mode "required" -}}
{{- $together = append $together (list "scheduling.queue.topology.level" .level) -}}
{{- end -}}
{{- end -}}
{{- $pods := include "training-job.ownPods" . | fromYaml -}}
{{- $constraints := list -}}
{{- range ternary .Values.placement.topologySpread (list) $isNode -}}
{{- $constraint := deepCopy . -}}
{{- if not (hasKey $constraint "labelSelector") -}}
{{- $_ := set $constraint "labelSelector" $pods -}}
{{- end -}}
{{- range $together -}}
{{- if and (eq (last .) $constraint.topologyKey) (eq $constraint.whenUnsatisfiable "DoNotSchedule") -}}
{{- $reason := printf "spreads over %s the pods that %s keeps together" (last .) (first .) -}}
{{- fail (printf "placement.topologySpread %s: use ScheduleAnyway, or remove one of the two" $reason) -}}
{{- end -}}
{{- end -}}
{{- $constraints = append $constraints $constraint -}}
{{- end -}}
{{- with $constraints -}}
{{- dict "constraints" . | toYaml -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-job.checkTopologySpread: fails for constraints that Kubernetes refuses (v1.34.4,
pkg/apis/core/validation/validation.go: validateTopologySpreadConstraints). Takes the root context.
*/}}
{{- define "training-job.checkTopologySpread" -}}
{{- $seen := dict -}}
{{- range $index, $constraint := .Values.placement.topologySpread -}}
{{- $name := printf "placement.topologySpread[%d]" $index -}}
{{- $level := printf "%s by %s" .topologyKey .whenUnsatisfiable -}}
{{- with get $seen $level -}}
{{- fail (printf "%s spreads over %s, as %s does: remove one of the two" $name $level .) -}}
{{- end -}}
{{- $_ := set $seen $level $name -}}
{{- if and (hasKey . "minDomains") (ne .whenUnsatisfiable "DoNotSchedule") -}}
{{- fail (printf "%s.minDomains requires whenUnsatisfiable DoNotSchedule: set it, or remove minDomains" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkPlacement: fails for placements that contradict each other. */}}
{{- define "training-job.checkPlacement" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "placement.spread" "placement.colocate"
    "placement.colocate.mode" "placement.colocate.weight" "placement.nodes" "placement.healthLabels" "placement.protect")) -}}
{{- include "common.checkTolerations" . -}}
{{- include "training-job.checkTopologySpread" . -}}
{{- $placement := .Values.placement -}}
{{- if and (eq $placement.colocate.level "kubernetes.io/hostname") (ne (include "training-job.spread" .) "none") -}}
{{- $advice := "name a larger level, or set placement.spread to none" -}}
{{- fail (printf "placement.colocate.level asks for one node and placement.spread for several: %s" $advice) -}}
{{- end -}}
{{- if and $placement.schedulerName (ne .Values.scheduling.gang.scheduler "none") -}}
{{- fail "placement.schedulerName and scheduling.gang both name a scheduler: use scheduling.gang.schedulerName" -}}
{{- end -}}
{{- end -}}

{{/*
training-job.protectionAnnotations: annotations by which Karpenter and the cluster autoscaler leave the node of a pod alone.
A run that is moved to save a node loses the work since its last checkpoint on all of its nodes. Takes the root context.
*/}}
{{- define "training-job.protectionAnnotations" -}}
{{- $protect := .Values.placement.protect -}}
{{- if or (eq $protect "always") (and (eq $protect "auto") (eq (include "common.hasGpus" .) "true")) -}}
karpenter.sh/do-not-disrupt: "true"
cluster-autoscaler.kubernetes.io/safe-to-evict: "false"
{{- end -}}
{{- end -}}
