{{/* training-operator.checkValues: fails for values that keep the operator from starting. */}}
{{- define "training-operator.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "image" "crds" "replicas" "leaderElection"
    "gangScheduler" "controllerThreads" "kubeApi" "kubeApi.qps" "kubeApi.burst" "initContainer" "initContainer.image"
    "initContainer.maxTries" "mpi" "mpi.kubectlDeliveryImage" "webhook" "logging" "logging.level" "logging.encoder"
    "serviceAccount" "podDisruptionBudget" "userRoles" "serviceMonitor")) -}}
{{- if not (or .Values.image.tag .Values.image.digest) -}}
{{- fail (printf "image.tag is empty: set image.tag or image.digest; there is no tag %s" .Chart.AppVersion) -}}
{{- end -}}
{{- range $name := keys (include "common.selectorLabels" . | fromYaml) | sortAlpha -}}
{{- if hasKey ($.Values.podLabels | default dict) $name -}}
{{- fail (printf "podLabels: %s selects the pods; remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := .Values.commonLabels -}}
{{- if or (hasPrefix "helm.sh/" $name) (hasPrefix "app.kubernetes.io/" $name) -}}
{{- fail (printf "commonLabels: the chart sets %s, by which other charts find its objects; remove it" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
