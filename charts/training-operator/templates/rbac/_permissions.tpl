{{/*
Permissions of the operator in the namespaces that it watches. The verbs are those that the controllers of v1.9.4 use
(the kubebuilder:rbac markers in pkg/), restricted to the enabled kinds and the gang scheduler.
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
# The launcher of an MPIJob starts the processes of its workers with kubectl exec, under its own Role. RBAC lets a
# subject grant only the permissions that it has, so the operator needs pods/exec too.
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
# The operator watches PodGroups wherever their CRD exists, even without a gang scheduler.
- apiGroups: [scheduling.volcano.sh, scheduling.x-k8s.io]
  resources: [podgroups]
  verbs: [get, list, watch]
{{- with .Values.gangScheduler.name }}
- apiGroups: [{{ ternary "scheduling.volcano.sh" "scheduling.x-k8s.io" (eq (lower .) "volcano") }}]
  resources: [podgroups]
  verbs: [create, update, patch, delete]
{{- end }}
{{- end -}}
