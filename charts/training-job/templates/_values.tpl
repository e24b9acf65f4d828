{{/*
training-job.checkValues: fails for a key that the values set to nothing (`nodes:`). Helm takes that as "delete the
default", the schema sees no key at all, and the template would die of it in words that name no key of the user's.
*/}}
{{- define "training-job.checkValues" -}}
{{- range $key := list "image" "nodes" "processesPerNode" "layout" "train" "torchrun" "resources" "env" "envSecrets"
    "sharedMemory" "temporaryStorage" "checkpoints" "placement" "restartPolicy" "runPolicy" "podLabels" -}}
{{- if kindIs "invalid" (index $.Values $key) -}}
{{- fail (printf "%s is empty: give it a value, or remove the line to get the default" $key) -}}
{{- end -}}
{{- end -}}
{{- end -}}
