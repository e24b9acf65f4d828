{{/*
training-operator.checkValues: fails for a key that the values set to nothing (`replicas:`). Helm takes that as "delete
the default" and the schema sees no key at all: the template would die of it in words that name no key of the user's, or
the operator would, of a flag without a value. A key stands after the one that it lies under.
*/}}
{{- define "training-operator.checkValues" -}}
{{- range $path := list "image" "crds" "replicas" "leaderElection" "gangScheduler" "controllerThreads"
    "kubeApi" "kubeApi.qps" "kubeApi.burst" "initContainer" "initContainer.image" "initContainer.maxTries"
    "mpi" "mpi.kubectlDeliveryImage" "webhook" "logging" "logging.level" "logging.encoder"
    "serviceAccount" "podDisruptionBudget" "userRoles" "serviceMonitor" -}}
{{- $value := $.Values -}}
{{- range $key := splitList "." $path -}}
{{- $value = index $value $key -}}
{{- end -}}
{{- if kindIs "invalid" $value -}}
{{- fail (printf "%s is empty: give it a value, or remove the line to get the default" $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}
