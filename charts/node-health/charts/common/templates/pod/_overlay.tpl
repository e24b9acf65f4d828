{{/*
Changes of a rendered object by values, for fields that no value sets.
*/}}

{{/*
common.overlay: merges `over` into `base`, which is modified. Mappings are merged and null removes a field. Items of the
lists below are merged by their key, as `kubectl apply` does; any other list is replaced. Takes (dict "base" <mapping>
"over" <mapping>) and renders nothing.
*/}}
{{- define "common.overlay" -}}
{{- $base := .base -}}
{{- $keys := dict "containers" "name" "initContainers" "name" "volumes" "name" "imagePullSecrets" "name" "env" "name"
    "volumeMounts" "mountPath" "ports" "containerPort" -}}
{{- range $field, $value := .over -}}
{{- $own := get $base $field -}}
{{- $key := get $keys $field -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $base $field -}}
{{- else if and (kindIs "map" $value) (kindIs "map" $own) -}}
{{- include "common.overlay" (dict "base" $own "over" $value) -}}
{{- else if and $key (kindIs "slice" $value) (kindIs "slice" $own) -}}
{{- range $item := $value -}}
{{- $isNew := true -}}
{{- range $existing := get $base $field -}}
{{- if eq (get $existing $key | toString) (get $item $key | toString) -}}
{{- $isNew = false -}}
{{- include "common.overlay" (dict "base" $existing "over" $item) -}}
{{- end -}}
{{- end -}}
{{- if $isNew -}}
{{- $_ := append (get $base $field) $item | set $base $field -}}
{{- end -}}
{{- end -}}
{{- else -}}
{{- $_ := set $base $field $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
