{{/*
training-monitoring.expression: the expression of an alert with its values filled in. Takes (dict "expr" <text> "values"
<values of the alert>).
*/}}
{{- define "training-monitoring.expression" -}}
{{- $expr := .expr -}}
{{- range $name, $value := .values -}}
{{- if kindIs "slice" $value -}}
{{- $numbers := list -}}
{{- range $value -}}
{{- $numbers = append $numbers (int64 . | toString) -}}
{{- end -}}
{{- $expr = $expr | replace (printf "${%s}" $name) (join "|" $numbers) -}}
{{- $expr = $expr | replace (printf "${!= %s}" $name) (regexReplaceAll "(\\S+)" (join " " $numbers) "!= $1") -}}
{{- else -}}
{{- $expr = $expr | replace (printf "${%s}" $name) (ternary $value (toJson $value) (kindIs "string" $value)) -}}
{{- end -}}
{{- end -}}
{{- $expr -}}
{{- end -}}
