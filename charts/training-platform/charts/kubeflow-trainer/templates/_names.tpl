{{/*
Names that several objects share. Every helper takes (dict "root" <root context> "component" <"trainer" or "jobset">).
*/}}

{{/* kubeflow-trainer.name: the prefix of a controller's objects. Trainer's objects have the name of the release. */}}
{{- define "kubeflow-trainer.name" -}}
{{- $name := include "common.fullname" .root -}}
{{- ternary $name (printf "%s-jobset" ($name | trunc 56 | trimSuffix "-")) (eq .component "trainer") -}}
{{- end -}}

{{/* kubeflow-trainer.webhookSecret: the Secret with a controller's certificate. */}}
{{- define "kubeflow-trainer.webhookSecret" -}}
{{ include "kubeflow-trainer.name" . | trunc 50 | trimSuffix "-" }}-webhook-cert
{{- end -}}

{{/* kubeflow-trainer.config: the ConfigMap with a controller's configuration. */}}
{{- define "kubeflow-trainer.config" -}}
{{ include "kubeflow-trainer.name" . | trunc 56 | trimSuffix "-" }}-config
{{- end -}}

{{/* kubeflow-trainer.lease: the Lease of a controller; the names are those of the upstream manifests. */}}
{{- define "kubeflow-trainer.lease" -}}
{{- ternary "trainer.kubeflow.org" "6d4f6a47.jobset.x-k8s.io" (eq .component "trainer") -}}
{{- end -}}

{{/* kubeflow-trainer.selectorLabels: what selects the pods of one controller. */}}
{{- define "kubeflow-trainer.selectorLabels" -}}
{{ include "common.selectorLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{/* kubeflow-trainer.metadata: name, namespace and labels of an object of one controller. */}}
{{- define "kubeflow-trainer.metadata" -}}
name: {{ include "kubeflow-trainer.name" . }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "kubeflow-trainer.labels" . | nindent 2 }}
{{- end -}}

{{/* kubeflow-trainer.labels: the labels of an object of one controller. */}}
{{- define "kubeflow-trainer.labels" -}}
{{ include "common.labels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}
