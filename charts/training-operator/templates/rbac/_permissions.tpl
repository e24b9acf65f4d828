{{/*
What the operator does in the namespaces whose jobs it serves. The verbs are those that its controllers use in v1.9.3
(the kubebuilder:rbac markers in pkg/), cut down to the kinds and the gang scheduler that are switched on.
*/}}

{{/* training-operator.jobRules: the rules of the ClusterRole, or of the Role when one namespace is watched. */}}
{{- define "training-operator.jobRules" -}}
{{- $schemes := include "training-operator.schemes" . | fromJsonArray -}}
{{- $resources := include "training-operator.resources" . | fromJsonArray -}}
- apiGroups: [kubeflow.org]
  resources:
    {{- toYaml $resources | nindent 4 }}
  verbs: [get, list, watch, create, update, patch, delete]
- apiGroups: [kubeflow.org]
  resources:
    {{- range $resources }}
    - {{ . }}/status
    {{- end }}
  verbs: [get, update, patch]
- apiGroups: [kubeflow.org]
  resources:
    {{- range $resources }}
    - {{ . }}/finalizers
    {{- end }}
  verbs: [update]
- apiGroups: [""]
  resources: [pods]
  verbs: [get, list, watch, create, update, patch, delete]
- apiGroups: [""]
  resources: [services]
  verbs: [get, list, watch, create, delete]
- apiGroups: [""]
  resources: [events]
  verbs: [create, patch]
{{- if has "pytorchjob" $schemes }}
- apiGroups: [autoscaling]
  resources: [horizontalpodautoscalers]
  verbs: [get, list, watch, create, update, patch, delete]
{{- end }}
{{- if has "mpijob" $schemes }}
# The launcher of an MPIJob starts its workers' processes with kubectl exec, under a Role of its own. Nobody may grant a
# permission that he lacks, so the operator holds pods/exec too.
- apiGroups: [""]
  resources: [configmaps]
  verbs: [list, watch, create, update]
- apiGroups: [""]
  resources: [serviceaccounts]
  verbs: [get, list, watch, create]
- apiGroups: [rbac.authorization.k8s.io]
  resources: [roles, rolebindings]
  verbs: [list, watch, create, update]
- apiGroups: [""]
  resources: [pods/exec]
  verbs: [create]
{{- end }}
# PodGroups are watched wherever their CRD exists, with or without a gang scheduler.
- apiGroups: [scheduling.volcano.sh, scheduling.x-k8s.io]
  resources: [podgroups]
  verbs: [get, list, watch]
{{- with .Values.gangScheduler.name }}
- apiGroups: [{{ ternary "scheduling.volcano.sh" "scheduling.x-k8s.io" (eq (lower .) "volcano") }}]
  resources: [podgroups]
  verbs: [create, update, patch, delete]
{{- end }}
{{- end -}}
