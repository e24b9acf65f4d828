{{/*
Text that reaches a container exactly as it stands in the values.
*/}}

{{/*
common.literal: a scalar as a quoted YAML string that Kubernetes leaves alone. Kubernetes expands $(NAME) and turns $$
into $ in command, args and env values: doubling every $ is the exact inverse. A number goes through JSON because Helm
holds it as a float, which would print as 1e+06.
*/}}
{{- define "common.literal" -}}
{{- $text := ternary . (toJson .) (kindIs "string" .) -}}
{{- $text | replace "$" "$$" | toRawJson -}}
{{- end -}}

{{/*
common.env: a container's env entries, sorted by name. Takes (dict "env" <map name: scalar> "secrets" <map name:
{secret, key}>), both optional. A name in both maps is an error: Kubernetes would keep only one of the two.
*/}}
{{- define "common.env" -}}
{{- $secrets := .secrets | default dict -}}
{{- range $name, $value := .env }}
{{- if hasKey $secrets $name }}
{{- fail (printf "%s is set in env and in envSecrets: remove one of the two" $name) }}
{{- end }}
- name: {{ $name | quote }}
  value: {{ include "common.literal" $value }}
{{- end }}
{{- range $name, $source := $secrets }}
- name: {{ $name | quote }}
  valueFrom:
    secretKeyRef:
      name: {{ $source.secret | quote }}
      key: {{ $source.key | quote }}
{{- end }}
{{- end -}}
