{{/*
Names that several objects must agree on.
*/}}

{{/*
training-operator.webhookSecret: the Secret that the operator keeps its certificate in.
*/}}
{{- define "training-operator.webhookSecret" -}}
{{ include "common.fullname" . | trunc 50 }}-webhook-cert
{{- end -}}

{{/* training-operator.initContainerConfig: the ConfigMap with the template of the workers' init container. */}}
{{- define "training-operator.initContainerConfig" -}}
{{ include "common.fullname" . | trunc 48 }}-init-container
{{- end -}}
