{{/*
common.refuseEmpty: fails for a key that the values set to nothing (`nodes:`). Helm takes that as "delete the default"
and the schema sees no key at all: the template would die of it in words that name no key of the user's, or the program
would, of a flag without a value. Takes (dict "values" .Values "paths" <list of dotted keys>), in which a key stands
after the one that it lies under.
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
