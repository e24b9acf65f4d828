{{/*
Text that reaches a container exactly as it is in the values.
*/}}

{{/*
common.literal: a scalar as a quoted YAML string that Kubernetes does not expand. Kubernetes expands $(NAME) and turns $$
into $ in command, args and env values: doubling every $ is the exact inverse. A number is converted with JSON because
Helm stores it as a float, which would print as 1e+06.
*/}}
{{- define "common.literal" -}}
{{- $text := ternary . (toJson .) (kindIs "string" .) -}}
{{- $text | replace "$" "$$" | toRawJson -}}
{{- end -}}

{{/*
common.env: a container's env entries, sorted by name. Takes (dict "env" <map name: scalar or {valueFrom}> "secrets"
<map name: {secret, key}>), both optional. A name in both maps is an error: Kubernetes would keep only one of the two.
*/}}
{{- define "common.env" -}}
{{- $secrets := .secrets | default dict -}}
{{- range $name, $value := .env }}
{{- if hasKey $secrets $name }}
{{- fail (printf "%s is set in env and in envSecrets: remove one of the two" $name) }}
{{- end }}
- name: {{ $name | quote }}
{{- if kindIs "map" $value }}
  valueFrom:
    {{- toYaml $value.valueFrom | nindent 4 }}
{{- else }}
  value: {{ include "common.literal" $value }}
{{- end }}
{{- end }}
{{- range $name, $source := $secrets }}
- name: {{ $name | quote }}
  valueFrom:
    secretKeyRef:
      name: {{ $source.secret | quote }}
      key: {{ $source.key | quote }}
{{- end }}
{{- end -}}

{{/*
common.refuseSecrets: fails for a variable in `env` whose name suggests a secret. Its value would be visible in the object,
in the release and in every list of the pods. The names are those of the validator's rule token-in-plain-env; a name such as
EOS_TOKEN belongs to a tokenizer. Takes the root context.
*/}}
{{- define "common.refuseSecrets" -}}
{{- $secret := "(?:^|_)(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|SECRET|SECRET_(?:ACCESS_)?KEY|PRIVATE_KEY|STORAGE_KEY)$" -}}
{{- $text := "(?:^|_)(?:PAD|EOS|BOS|UNK|MASK|SEP|CLS|STOP|IMAGE|SPECIAL|START|END|PER|MAX|MIN|NEXT|CLUSTER|DISCOVERY)_TOKEN$" -}}
{{- range $name := keys .Values.env | sortAlpha -}}
{{- if and (regexMatch $secret (upper $name)) (not (regexMatch $text (upper $name))) -}}
{{- $advice := printf "put it into a Secret and write envSecrets: {%s: {secret: NAME, key: KEY}}" $name -}}
{{- fail (printf "env.%s: anyone who can read this object could read its value; %s" $name $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
