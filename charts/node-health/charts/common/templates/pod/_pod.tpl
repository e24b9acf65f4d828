{{/*
common.pod: the fields of a pod's spec that depend on site policy and not on the program. Takes a dict of which
every key is optional: pullSecrets (list of names), priorityClassName, schedulerName, runtimeClassName,
terminationGracePeriodSeconds, securityContext, nodeSelector, tolerations, affinity, topologySpreadConstraints. Service
links are off because with hundreds of Services in a namespace they add thousands of variables, one of which may collide
with a flag that the program reads.
*/}}
{{- define "common.pod" -}}
enableServiceLinks: false
{{- with .pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . | quote }}
  {{- end }}
{{- end }}
{{- range $field := list "priorityClassName" "schedulerName" "runtimeClassName" }}
{{- with get $ $field }}
{{ $field }}: {{ . | quote }}
{{- end }}
{{- end }}
{{- if not (kindIs "invalid" .terminationGracePeriodSeconds) }}
terminationGracePeriodSeconds: {{ int64 .terminationGracePeriodSeconds }}
{{- end }}
{{- range $field := list "securityContext" "nodeSelector" "tolerations" "affinity" "topologySpreadConstraints" }}
{{- with get $ $field }}
{{ $field }}:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}
