{{/*
Names that several objects share.
*/}}

{{/*
training-operator.webhookSecret: the Secret with the operator's certificate.
*/}}
{{- define "training-operator.webhookSecret" -}}
{{ include "common.fullname" . | trunc 50 }}-webhook-cert
{{- end -}}

{{/* training-operator.initContainerConfig: the ConfigMap with the template of the workers' init container. */}}
{{- define "training-operator.initContainerConfig" -}}
{{ include "common.fullname" . | trunc 48 }}-init-container
{{- end -}}
