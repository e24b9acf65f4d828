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
