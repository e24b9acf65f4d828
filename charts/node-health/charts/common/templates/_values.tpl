{{/*
common.refuseEmpty: fails for a key without a value (`nodes:`). Helm interprets it as "delete the default", and the schema
sees no key at all. The template would then fail with an error that names no key of the user, or the program with a flag
that has no value. Takes (dict "values" .Values "paths" <list of dotted keys>), in which a key follows its parent.
*/}}
{{- define "common.refuseEmpty" -}}
{{- range $path := .paths -}}
{{- $value := $.values -}}
{{- range $key := splitList "." $path -}}
{{- $value = index $value $key -}}
{{- end -}}
{{- if kindIs "invalid" $value -}}
{{- fail (printf "%s is empty: give it a value, or remove the line to get the default" $path) -}}
{{- end -}}
{{- end -}}
{{- end -}}
