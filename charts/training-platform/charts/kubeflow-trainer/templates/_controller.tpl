{{/*
Objects that both controllers have. Every helper takes (dict "root" <root context> "component" <"trainer" or "jobset">).
*/}}

{{/*
kubeflow-trainer.deployment: the Deployment of a controller. Takes also "image", "replicas" and "resources" of the
controller, and "ports", a map of names and numbers.
*/}}
{{- define "kubeflow-trainer.deployment" -}}
{{- $values := .root.Values -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  {{- include "kubeflow-trainer.metadata" . | nindent 2 }}
spec:
  replicas: {{ .replicas }}
  selector:
    matchLabels:
      {{- include "kubeflow-trainer.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- mergeOverwrite (include "kubeflow-trainer.labels" . | fromYaml) ($values.podLabels | default dict) | toYaml | nindent 8 }}
      annotations:
        # The controller reads its configuration only when it starts.
        checksum/config: {{ include (printf "%s/%s/configmap.yaml" .root.Template.BasePath .component) .root | sha256sum }}
        {{- with $values.podAnnotations }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
    spec:
      serviceAccountName: {{ include "kubeflow-trainer.name" . }}
      {{- $pod := pick $values "priorityClassName" "nodeSelector" "tolerations" "affinity" }}
      {{- $pod = merge $pod (dict "pullSecrets" $values.image.pullSecrets "securityContext" $values.podSecurityContext) }}
      {{- include "common.pod" (set $pod "terminationGracePeriodSeconds" 15) | nindent 6 }}
      containers:
        - name: {{ .component }}
          image: {{ include "common.image" (dict "image" .image "root" .root) | quote }}
          imagePullPolicy: {{ $values.image.pullPolicy | quote }}
          args:
            - --config=/etc/controller/config.yaml
            - --zap-devel=false
            - {{ printf "--zap-log-level=%s" $values.logging.level | quote }}
            - {{ printf "--zap-encoder=%s" $values.logging.encoder | quote }}
          ports:
            {{- range $name, $port := .ports }}
            - name: {{ $name }}
              containerPort: {{ $port }}
            {{- end }}
          {{- if semverCompare ">=1.30.0-0" .root.Capabilities.KubeVersion.Version }}
          lifecycle:
            preStop:
              # The pod serves the webhook until the nodes have removed it from the Service. Kubernetes 1.29 does not know
              # this handler.
              sleep:
                seconds: 5
          {{- end }}
          startupProbe:
            httpGet:
              path: /healthz
              port: probes
            periodSeconds: 2
            failureThreshold: 30
          livenessProbe:
            httpGet:
              path: /healthz
              port: probes
            periodSeconds: 20
            timeoutSeconds: 3
          # Ready once the certificate is mounted and the webhook listens. On the first start the kubelet takes up to 90
          # s to sync the Secret.
          readinessProbe:
            httpGet:
              path: /readyz
              port: probes
            periodSeconds: 5
            timeoutSeconds: 3
          resources:
            {{- toYaml .resources | nindent 12 }}
          securityContext:
            {{- toYaml $values.securityContext | nindent 12 }}
          volumeMounts:
            - name: webhook-cert
              mountPath: /tmp/k8s-webhook-server/serving-certs
              readOnly: true
            - name: config
              mountPath: /etc/controller
              readOnly: true
      volumes:
        - name: webhook-cert
          secret:
            secretName: {{ include "kubeflow-trainer.webhookSecret" . }}
            defaultMode: 0440
        - name: config
          configMap:
            name: {{ include "kubeflow-trainer.config" . }}
{{- end -}}

{{/* kubeflow-trainer.service: the Service of a controller. Takes also "ports", a map of container ports and numbers. */}}
{{- define "kubeflow-trainer.service" -}}
apiVersion: v1
kind: Service
metadata:
  {{- include "kubeflow-trainer.metadata" . | nindent 2 }}
spec:
  selector:
    {{- include "kubeflow-trainer.selectorLabels" . | nindent 4 }}
  ports:
    {{- range $name, $port := .ports }}
    - name: {{ $name }}
      port: {{ $port }}
      targetPort: {{ $name }}
    {{- end }}
{{- end -}}

{{/*
kubeflow-trainer.secret: the Secret into which a controller writes its certificate, and which must exist. `data` is not
rendered, not even as an empty map: Helm does not touch fields that it does not render, so an upgrade keeps the
certificate.
*/}}
{{- define "kubeflow-trainer.secret" -}}
apiVersion: v1
kind: Secret
metadata:
  name: {{ include "kubeflow-trainer.webhookSecret" . }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "kubeflow-trainer.labels" . | nindent 4 }}
type: Opaque
{{- end -}}

{{/* kubeflow-trainer.serviceAccount: the ServiceAccount of a controller. */}}
{{- define "kubeflow-trainer.serviceAccount" -}}
apiVersion: v1
kind: ServiceAccount
metadata:
  {{- include "kubeflow-trainer.metadata" . | nindent 2 }}
  {{- with .root.Values.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* kubeflow-trainer.podDisruptionBudget: the budget of a controller with more than one of its "replicas". */}}
{{- define "kubeflow-trainer.podDisruptionBudget" -}}
{{- if and .root.Values.podDisruptionBudget.enabled (gt (int .replicas) 1) -}}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "kubeflow-trainer.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  # A pod that is not Ready may be evicted. Otherwise a pod that never becomes Ready would block the drain.
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector:
    matchLabels:
      {{- include "kubeflow-trainer.selectorLabels" . | nindent 6 }}
{{- end -}}
{{- end -}}

{{/* kubeflow-trainer.serviceMonitor: the ServiceMonitor of a controller. Takes also "endpoint", the rest of its endpoint. */}}
{{- define "kubeflow-trainer.serviceMonitor" -}}
{{- if and .root.Values.serviceMonitor.enabled (.root.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor") -}}
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata:
  {{- $metadata := include "kubeflow-trainer.metadata" . | fromYaml }}
  {{- $labels := dict "labels" (.root.Values.serviceMonitor.labels | default dict) }}
  {{- mergeOverwrite $metadata $labels | toYaml | nindent 2 }}
spec:
  selector:
    matchLabels:
      {{- include "kubeflow-trainer.selectorLabels" . | nindent 6 }}
  endpoints:
    - port: metrics
      interval: {{ .root.Values.serviceMonitor.interval | quote }}
      {{- with .endpoint }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
{{- end -}}
{{- end -}}

{{/* kubeflow-trainer.clusterRoleBinding: gives a controller its ClusterRole. */}}
{{- define "kubeflow-trainer.clusterRoleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ include "kubeflow-trainer.name" . }}
  labels:
    {{- include "kubeflow-trainer.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ include "kubeflow-trainer.name" . }}
subjects:
  - kind: ServiceAccount
    name: {{ include "kubeflow-trainer.name" . }}
    namespace: {{ .root.Release.Namespace | quote }}
{{- end -}}

{{/*
kubeflow-trainer.role: permissions of a controller in its own namespace, where it stores its certificate and its Lease.
*/}}
{{- define "kubeflow-trainer.role" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  {{- include "kubeflow-trainer.metadata" . | nindent 2 }}
rules:
  # A client that lists all objects cannot be restricted to one name.
  - apiGroups: [""]
    resources: [secrets]
    verbs: [get, list, watch]
  - apiGroups: [""]
    resources: [secrets]
    resourceNames: [{{ include "kubeflow-trainer.webhookSecret" . }}]
    verbs: [update]
  {{- if .root.Values.leaderElection }}
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    verbs: [create]
  - apiGroups: [coordination.k8s.io]
    resources: [leases]
    resourceNames: [{{ include "kubeflow-trainer.lease" . }}]
    verbs: [get, update]
  {{- end }}
{{- end -}}

{{/* kubeflow-trainer.roleBinding: gives a controller its Role. */}}
{{- define "kubeflow-trainer.roleBinding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  {{- include "kubeflow-trainer.metadata" . | nindent 2 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ include "kubeflow-trainer.name" . }}
subjects:
  - kind: ServiceAccount
    name: {{ include "kubeflow-trainer.name" . }}
    namespace: {{ .root.Release.Namespace | quote }}
{{- end -}}

{{/*
kubeflow-trainer.webhookRules: permissions to write the CA certificate into the controller's own webhook configurations.
Takes (dict "validating" <name> "mutating" <name>).
*/}}
{{- define "kubeflow-trainer.webhookRules" -}}
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
  verbs: [get, list, watch]
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations]
  resourceNames: [{{ .mutating }}]
  verbs: [update]
- apiGroups: [admissionregistration.k8s.io]
  resources: [validatingwebhookconfigurations]
  resourceNames: [{{ .validating }}]
  verbs: [update]
{{- end -}}

{{/*
kubeflow-trainer.electionConfig: `leaderElection` of a controller's configuration. Trainer has no defaults for the
durations.
*/}}
{{- define "kubeflow-trainer.electionConfig" -}}
leaderElect: {{ .root.Values.leaderElection }}
resourceName: {{ include "kubeflow-trainer.lease" . }}
resourceLock: leases
leaseDuration: 15s
renewDeadline: 10s
retryPeriod: 2s
{{- end -}}

{{/*
kubeflow-trainer.webhook: one webhook. caBundle is not rendered: an upgrade would remove the CA certificate. Takes (dict
"root" "component" "name" "path" "group" "version" "operations" "resource" "selector" "conditions").
*/}}
{{- define "kubeflow-trainer.webhook" -}}
- name: {{ .name }}
  admissionReviewVersions: [v1]
  clientConfig:
    service:
      name: {{ include "kubeflow-trainer.name" . }}
      namespace: {{ .root.Release.Namespace | quote }}
      path: {{ .path }}
      port: 443
  failurePolicy: {{ .root.Values.webhook.failurePolicy | quote }}
  timeoutSeconds: {{ .root.Values.webhook.timeoutSeconds }}
  matchPolicy: Equivalent
  {{- with .selector }}
  objectSelector:
    matchExpressions:
      - {{ toYaml . | nindent 8 | trim }}
  {{- end }}
  {{- with .conditions }}
  matchConditions:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  rules:
    - apiGroups: [{{ .group | quote }}]
      apiVersions: [{{ .version }}]
      operations: [{{ join ", " .operations }}]
      resources: [{{ .resource }}]
  sideEffects: None
{{- end -}}
