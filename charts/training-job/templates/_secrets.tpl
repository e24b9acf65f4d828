{{/*
training-job.refuseSecrets: fails for a variable in `env` whose name says that its value is a secret: it would stand in
the object, in the release and in every list of the pods. The words are those of the validator's rule
token-in-plain-env; a name such as EOS_TOKEN is of a tokenizer. Takes the root context.
*/}}
{{- define "training-job.refuseSecrets" -}}
{{- $secret := "(?:^|_)(?:TOKEN|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|SECRET|SECRET_(?:ACCESS_)?KEY|PRIVATE_KEY|STORAGE_KEY)$" -}}
{{- $text := "(?:^|_)(?:PAD|EOS|BOS|UNK|MASK|SEP|CLS|STOP|IMAGE|SPECIAL|START|END|PER|MAX|MIN|NEXT)_TOKEN$" -}}
{{- range $name := keys .Values.env | sortAlpha -}}
{{- if and (regexMatch $secret (upper $name)) (not (regexMatch $text (upper $name))) -}}
{{- $advice := printf "put it into a Secret and write envSecrets: {%s: {secret: NAME, key: KEY}}" $name -}}
{{- fail (printf "env.%s: whoever may read this object could read its value; %s" $name $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-job.envFrom: the ConfigMaps and Secrets that become variables as a whole, as a YAML list. */}}
{{- define "training-job.envFrom" -}}
{{- range .Values.envFrom.configMaps }}
- configMapRef:
    name: {{ . | quote }}
{{- end }}
{{- range .Values.envFrom.secrets }}
- secretRef:
    name: {{ . | quote }}
{{- end }}
{{- end -}}
