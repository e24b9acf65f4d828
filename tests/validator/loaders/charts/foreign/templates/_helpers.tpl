{{- define "foreign.name" -}}
{{- .Values.nameOverride | default .Release.Name | trunc 40 -}}
{{- end -}}

{{- define "foreign.pod" -}}
spec:
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with .Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .Values.mode }}
      image: "{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}"
      command: [bash, /scripts/train.sh]
      env:
        {{- range $name, $value := .Values.env }}
        - name: {{ $name }}
          value: {{ $value | quote }}
        {{- end }}
        {{- with .Values.extraEnv }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      resources:
        {{- toYaml .Values.resources | nindent 8 }}
      volumeMounts:
        - name: scripts
          mountPath: /scripts
        {{- if .Values.shm.enabled }}
        - name: shm
          mountPath: /dev/shm
        {{- end }}
  volumes:
    - name: scripts
      configMap:
        name: {{ include "foreign.name" . }}-scripts
    {{- if .Values.shm.enabled }}
    - name: shm
      emptyDir:
        medium: Memory
        sizeLimit: {{ .Values.shm.size }}
    {{- end }}
{{- end -}}
