{{/* kubeflow-trainer.checkValues: fails for values that keep a controller from starting. */}}
{{- define "kubeflow-trainer.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "image" "crds" "replicas" "leaderElection"
    "controllerThreads" "kubeApi" "kubeApi.qps" "kubeApi.burst" "progress" "progress.enabled" "progress.qps"
    "progress.burst" "jobset" "jobset.enabled" "jobset.image" "jobset.image.tag" "jobset.replicas" "jobset.kubeApi"
    "jobset.kubeApi.qps" "jobset.kubeApi.burst" "webhook" "logging" "logging.level" "logging.encoder"
    "serviceAccount" "podDisruptionBudget" "userRoles" "serviceMonitor")) -}}
{{- range $name := keys (include "kubeflow-trainer.selectorLabels" (dict "root" $ "component" "trainer") | fromYaml) | sortAlpha -}}
{{- if hasKey ($.Values.podLabels | default dict) $name -}}
{{- fail (printf "podLabels: %s selects the pods; remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := .Values.commonLabels -}}
{{- if or (hasPrefix "helm.sh/" $name) (hasPrefix "app.kubernetes.io/" $name) -}}
{{- fail (printf "commonLabels: the chart sets %s, by which other charts find its objects; remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- if not .Values.leaderElection -}}
{{- range $path, $replicas := dict "replicas" .Values.replicas "jobset.replicas" .Values.jobset.replicas -}}
{{- if gt (int $replicas) 1 -}}
{{- fail (printf "%s is above 1 and leaderElection is false: every replica would act on every object; write leaderElection: true" $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $name := include "common.fullname" . -}}
{{- if not (regexMatch "^[a-z][-a-z0-9]*$" $name) -}}
{{- $advice := "it must begin with a letter and contain only a-z, 0-9 and -, e.g. kubeflow-trainer" -}}
{{- fail (printf "release name %q is not a valid name for the webhook's Service: %s" .Release.Name $advice) -}}
{{- end -}}
{{- end -}}
