{{/* training-job.serviceAccountName: the pods' ServiceAccount, empty for the namespace's default. */}}
{{- define "training-job.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (ternary (include "training-job.name" .) "" .Values.serviceAccount.create) -}}
{{- end -}}
