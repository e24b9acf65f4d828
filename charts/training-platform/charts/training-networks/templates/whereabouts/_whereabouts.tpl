{{/*
training-networks.whereaboutsContainer: the common fields of the containers of Whereabouts, all except the command.
Takes (dict "part" "whereabouts" "root" <root context>).
*/}}
{{- define "training-networks.whereaboutsContainer" -}}
{{ include "training-networks.partImage" . }}
env:
  - name: NODENAME
    valueFrom:
      fieldRef:
        fieldPath: spec.nodeName
  - name: NODE_CONFIG
    value: {{ .root.Values.nodePaths.config | quote }}
  - name: WHEREABOUTS_NAMESPACE
    valueFrom:
      fieldRef:
        fieldPath: metadata.namespace
resources:
  {{- toYaml .root.Values.whereabouts.resources | nindent 2 }}
securityContext:
  {{- include "training-networks.installer" .root | nindent 2 }}
terminationMessagePolicy: FallbackToLogsOnError
volumeMounts:
  - name: config
    mountPath: /host/config
  - name: programs
    mountPath: /host/programs
  # The control loop reads its schedule from here.
  - name: scripts
    mountPath: /cron-schedule
    readOnly: true
  - name: scripts
    mountPath: /scripts
    readOnly: true
{{- end -}}
