{{/*
training-preflight.name: the name of the Job, of its Service and of its program: the release's name, and after an upgrade
its revision too, because the pods of a Job cannot be changed, and an upgrade measures again. The host names of its pods
contain it: <name>-<index> must fit in 63 characters. Takes the root context.
*/}}
{{- define "training-preflight.name" -}}
{{- $name := .Release.Name -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- $advice := "begin with a letter and use only a-z, 0-9 and -, e.g. check-42" -}}
{{- fail (printf "release name %q cannot name a Service: %s" $name $advice) -}}
{{- end -}}
{{- if gt (int .Release.Revision) 1 -}}{{- $name = printf "%s-%d" $name (int .Release.Revision) -}}{{- end -}}
{{- $last := printf "%s-%d" $name (sub (int64 .Values.nodes) 1) -}}
{{- if gt (len $last) 63 -}}
{{- $reason := printf "the name of the pod %s would exceed 63 characters" $last -}}
{{- fail (printf "release name %q is too long by %d: %s" $name (sub (len $last) 63) $reason) -}}
{{- end -}}
{{- $name -}}
{{- end -}}
