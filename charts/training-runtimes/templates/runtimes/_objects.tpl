{{/*
training-runtimes.objects: the ClusterTrainingRuntimes. The chart's own file renders them, and so does
charts/training-platform with the values of the site. An empty cluster serves no such kind before Trainer is installed: a
release that installs both creates them with its next upgrade. Takes the root context.
*/}}
{{- define "training-runtimes.objects" -}}
{{- include "training-runtimes.checkValues" . }}
{{- $unserved := not (.Capabilities.APIVersions.Has "trainer.kubeflow.org/v1alpha1/ClusterTrainingRuntime") }}
{{- $waits := and (include "common.isKnown" .) $unserved }}
{{- range $name, $runtime := .Values.runtimes }}
{{- if not (or $waits (eq (toString $runtime.enabled) "false")) }}
{{- $own := dict "root" $ "runtime" $runtime }}
{{- include "training-runtimes.root" $own }}
{{- $it := dict "name" $name "runtime" $runtime "root" $own.own }}
{{- include "training-runtimes.check" $it }}
---
apiVersion: trainer.kubeflow.org/v1alpha1
kind: ClusterTrainingRuntime
metadata:
  name: {{ $name }}
  labels:
    {{- include "common.labels" $ | nindent 4 }}
    {{- /* The SDK does not list a runtime without it, and list_jobs() fails for each TrainJob of the runtime. */}}
    trainer.kubeflow.org/framework: {{ $runtime.framework | default $runtime.policy | quote }}
    {{- /* Trainer's webhook of charts/kubeflow-trainer leaves out such runtimes, so that they need not wait for it. */}}
    trainer.kubeflow.org/webhook-validation: disabled
spec:
  {{- include "training-runtimes.spec" $it | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}
