{{/*
Placement of pods, from the values that charts of runs share. Every helper takes the root context unless it says otherwise.
*/}}

{{/*
common.podRule: one term of a podAffinity or podAntiAffinity. A required rule of the run for its own pods does not block
the first of them: the scheduler admits a pod that matches its own term if no other pod does (Kubernetes v1.34.4, pkg/scheduler/framework/plugins/interpodaffinity/filtering.go: satisfyPodAffinity). Takes
(dict "term" <PodAffinityTerm> "mode" <required or preferred> "weight" <number>).
*/}}
{{- define "common.podRule" -}}
{{- if eq .mode "required" -}}
{{- dict "requiredDuringSchedulingIgnoredDuringExecution" (list .term) | toYaml -}}
{{- else -}}
{{- $preference := dict "weight" (int64 .weight) "podAffinityTerm" .term -}}
{{- dict "preferredDuringSchedulingIgnoredDuringExecution" (list $preference) | toYaml -}}
{{- end -}}
{{- end -}}

{{/* common.nodeAffinity: `placement.affinity` with the rules of `nodes` and `healthLabels`, as YAML. */}}
{{- define "common.nodeAffinity" -}}
{{- $affinity := deepCopy (.Values.placement.affinity | default dict) -}}
{{- with (include "common.nodeTerms" . | fromYaml).terms -}}
{{- $rules := deepCopy ($affinity.nodeAffinity | default dict) -}}
{{- $_ := set $rules "requiredDuringSchedulingIgnoredDuringExecution" (dict "nodeSelectorTerms" .) -}}
{{- $_ := set $affinity "nodeAffinity" $rules -}}
{{- end -}}
{{- toYaml $affinity -}}
{{- end -}}

{{/*
common.nodeTerms: {terms: <nodeSelectorTerms>} of the user's terms and of `nodes` and `healthLabels`, `{}` if the latter
are empty. A node matches if one term matches, and a term if all its requirements do, so the chart adds its requirements to
each of the user's terms. Nodes are selected by the field metadata.name, because the label kubernetes.io/hostname may
differ from it, and an `ignore` that misses its node is worse than none. Such a requirement takes one value (Kubernetes
v1.34.4, pkg/apis/core/validation/validation.go: ValidateNodeFieldSelectorRequirement), which makes a term of each
allowed node.
*/}}
{{- define "common.nodeTerms" -}}
{{- $nodes := .Values.placement.nodes -}}
{{- $health := .Values.placement.healthLabels -}}
{{- $expressions := list -}}
{{- range $health.forbidden -}}
{{- $expressions = append $expressions (dict "key" . "operator" "DoesNotExist") -}}
{{- end -}}
{{- range $key, $values := $health.required -}}
{{- $expressions = append $expressions (dict "key" $key "operator" "In" "values" $values) -}}
{{- end -}}
{{- $choices := list -}}
{{- range $nodes.allow -}}
{{- if not (has . ($nodes.ignore | default list)) -}}
{{- $field := dict "key" "metadata.name" "operator" "In" "values" (list .) -}}
{{- $choices = append $choices (list $field) -}}
{{- end -}}
{{- end -}}
{{- if and $nodes.allow (not $choices) -}}
{{- fail "placement.nodes.ignore names every node of placement.nodes.allow: no node is left" -}}
{{- end -}}
{{- if and $nodes.ignore (not $choices) -}}
{{- $fields := list -}}
{{- range $nodes.ignore -}}
{{- $fields = append $fields (dict "key" "metadata.name" "operator" "NotIn" "values" (list .)) -}}
{{- end -}}
{{- $choices = list $fields -}}
{{- end -}}
{{- $terms := list -}}
{{- if or $expressions $choices -}}
{{- $affinity := .Values.placement.affinity | default dict -}}
{{- $required := ($affinity.nodeAffinity | default dict).requiredDuringSchedulingIgnoredDuringExecution -}}
{{- $rules := ($required | default dict).nodeSelectorTerms | default list -}}
{{- range $rules | default (list (dict)) -}}
{{- $term := . -}}
{{- if and $rules (not (or $term.matchExpressions $term.matchFields)) -}}
{{- fail "placement.affinity.nodeAffinity: an empty term of nodeSelectorTerms fits no node: remove it" -}}
{{- end -}}
{{- range $choices | default (list (list)) -}}
{{- $merged := dict -}}
{{- with concat ($term.matchExpressions | default list) $expressions -}}
{{- $_ := set $merged "matchExpressions" . -}}
{{- end -}}
{{- with concat ($term.matchFields | default list) . -}}
{{- $_ := set $merged "matchFields" . -}}
{{- end -}}
{{- $terms = append $terms $merged -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with $terms -}}
{{- dict "terms" . | toYaml -}}
{{- end -}}
{{- end -}}

{{/*
common.checkTolerations: fails for tolerations that Kubernetes refuses (v1.34.4,
pkg/apis/core/validation/validation.go: ValidateTolerations). Takes the root context.
*/}}
{{- define "common.checkTolerations" -}}
{{- range $index, $toleration := .Values.placement.tolerations -}}
{{- $name := printf "placement.tolerations[%d]" $index -}}
{{- $exists := eq (.operator | default "Equal") "Exists" -}}
{{- if and (not .key) (not $exists) -}}
{{- fail (printf "%s has no key, so it matches every taint: set operator to Exists, or name the taint's key" $name) -}}
{{- end -}}
{{- if and .value $exists -}}
{{- fail (printf "%s.value: with operator Exists any value is tolerated; remove it, or set operator to Equal" $name) -}}
{{- end -}}
{{- if and (hasKey . "tolerationSeconds") (ne (.effect | default "") "NoExecute") -}}
{{- fail (printf "%s.tolerationSeconds requires effect NoExecute: set effect to NoExecute, or remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
