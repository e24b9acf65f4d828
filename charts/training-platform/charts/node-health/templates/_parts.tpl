{{/*
Helpers of the two programs, `agent` and `controller`. Helpers take (dict "part" <name> "root" <root context>).
*/}}

{{/* node-health.partName: the name of a part's objects in the release's namespace. */}}
{{- define "node-health.partName" -}}
{{ include "common.fullname" .root | trunc 50 | trimSuffix "-" }}-{{ .part }}
{{- end -}}

{{/*
node-health.clusterName: the name of a part's objects outside of namespaces. It is the same for all releases: Helm refuses
a second release, whose agents would write the same condition.
*/}}
{{- define "node-health.clusterName" -}}
trainyard-node-health-{{ .part }}
{{- end -}}

{{/* node-health.labels: the labels of a part's objects. */}}
{{- define "node-health.labels" -}}
{{ include "common.labels" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/* node-health.metadata: the metadata of a part's objects in the release's namespace. */}}
{{- define "node-health.metadata" -}}
name: {{ include "node-health.partName" . }}
namespace: {{ .root.Release.Namespace | quote }}
labels:
  {{- include "node-health.labels" . | nindent 2 }}
{{- end -}}

{{/* node-health.selector: the selector labels of a part's pods. */}}
{{- define "node-health.selector" -}}
{{ include "common.selectorLabels" .root }}
app.kubernetes.io/component: {{ .part }}
{{- end -}}

{{/* node-health.podMetadata: labels and annotations of a part's pods. */}}
{{- define "node-health.podMetadata" -}}
{{- $values := get .root.Values .part -}}
labels:
  {{- mergeOverwrite (include "node-health.labels" . | fromYaml) ($values.podLabels | default dict) | toYaml | nindent 2 }}
annotations:
  # The program reads its settings only when it starts.
  checksum/config: {{ include (printf "node-health.%sConfig" .part) .root | sha256sum }}
  {{- with $values.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end -}}

{{/* node-health.pod: the fields of a part's pod that the values set. */}}
{{- define "node-health.pod" -}}
{{- $pod := pick (get .root.Values .part) "priorityClassName" "runtimeClassName" "nodeSelector" "tolerations" -}}
{{- include "common.pod" (merge $pod (dict "pullSecrets" .root.Values.image.pullSecrets "terminationGracePeriodSeconds" 5
    "securityContext" .securityContext)) -}}
{{- end -}}

{{/* node-health.container: image, command, port and probes of a part. */}}
{{- define "node-health.container" -}}
image: {{ include "common.image" (dict "image" .root.Values.image "root" .root) | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy | quote }}
command: [python3, -m, nodehealth, {{ .part }}]
args: [--config, /etc/node-health/{{ .part }}.json]
ports:
  - name: metrics
    containerPort: {{ int (get .root.Values .part).metricsPort }}
livenessProbe:
  httpGet:
    path: /metrics
    port: metrics
  periodSeconds: 20
  timeoutSeconds: 5
  # A first round may wait for a device that does not answer.
  initialDelaySeconds: {{ ternary (int (add .root.Values.checks.timeoutSeconds 30)) 15 (eq .part "agent") }}
readinessProbe:
  httpGet:
    path: /metrics
    port: metrics
  periodSeconds: 5
  timeoutSeconds: 5
resources:
  {{- toYaml (get .root.Values .part).resources | nindent 2 }}
terminationMessagePolicy: FallbackToLogsOnError
{{- end -}}
