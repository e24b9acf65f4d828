{{/*
training-runtimes.objects: the ClusterTrainingRuntimes. The chart's own file renders them, and so does
charts/training-platform with the values of the site. An empty cluster does not know their kind, for which Helm refuses a
whole release. A release that also installs Trainer creates them in a hook, after Trainer is ready. The metadata of an owner
lets the next upgrade adopt them: without a hook then, because deleting a runtime in use would wait for its jobs. Takes the
root context, and `installsTrainer` in it.
*/}}
{{- define "training-runtimes.objects" -}}
{{- include "training-runtimes.checkValues" . }}
{{- $unserved := not (.Capabilities.APIVersions.Has "trainer.kubeflow.org/v1alpha1/ClusterTrainingRuntime") }}
{{- $waits := and (include "common.isKnown" .) $unserved }}
{{- range $name, $runtime := .Values.runtimes }}
{{- if not (or (and $waits (not $.installsTrainer)) (eq (toString $runtime.enabled) "false")) }}
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
  {{- if $waits }}
  annotations:
    helm.sh/hook: post-install,post-upgrade
    meta.helm.sh/release-name: {{ $.Release.Name | quote }}
    meta.helm.sh/release-namespace: {{ $.Release.Namespace | quote }}
  {{- end }}
spec:
  {{- include "training-runtimes.spec" $it | nindent 2 }}
{{- end }}
{{- end }}
{{- end -}}
