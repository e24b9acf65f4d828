{{/*
training-job.affinity: `placement.affinity` and the rule that keeps this run's pods on different nodes. A run of one
node needs no rule. Takes the root context and gives YAML, `{}` when nothing is asked for.
*/}}
{{- define "training-job.affinity" -}}
{{- $affinity := deepCopy (.Values.placement.affinity | default dict) -}}
{{- $spread := .Values.placement.spread -}}
{{- if and (gt (int .Values.nodes) 1) (ne $spread "none") -}}
{{- if hasKey $affinity "podAntiAffinity" -}}
{{- $advice := "set placement.spread to none, or remove podAntiAffinity" -}}
{{- fail (printf "placement.spread and affinity.podAntiAffinity both say which pods share a node: %s" $advice) -}}
{{- end -}}
{{- $pods := dict "matchLabels" (dict "training.kubeflow.org/job-name" (include "training-job.name" .)) -}}
{{- $term := dict "labelSelector" $pods "topologyKey" "kubernetes.io/hostname" -}}
{{- if eq $spread "required" -}}
{{- $rule := dict "requiredDuringSchedulingIgnoredDuringExecution" (list $term) -}}
{{- $_ := set $affinity "podAntiAffinity" $rule -}}
{{- else -}}
{{- $preference := dict "weight" 100 "podAffinityTerm" $term -}}
{{- $rule := dict "preferredDuringSchedulingIgnoredDuringExecution" (list $preference) -}}
{{- $_ := set $affinity "podAntiAffinity" $rule -}}
{{- end -}}
{{- end -}}
{{- toYaml $affinity -}}
{{- end -}}
