{{/*
A TrainJob of Kubeflow Trainer: a TrainingRuntime of the run's own, which holds the pods, and the object that starts it.
Trainer makes a JobSet of the two, with one Job whose pods are the nodes of the run. Read in kubeflow/trainer v2.3.0 and
kubernetes-sigs/jobset v0.12.0. Every helper takes the root context.
*/}}

{{/* training-job.podRestartPolicy: of the pods of the run's Job; nothing where the operator writes it into them. */}}
{{- define "training-job.podRestartPolicy" -}}
{{- if eq .Values.kind "TrainJob" -}}
{{- ternary "OnFailure" "Never" (eq .Values.restartPolicy "OnFailure") -}}
{{- end -}}
{{- end -}}

{{/*
training-job.jobPolicy: how the run's Job goes on and ends. Like the training operator it adds up the restarts of all
pods. With `Never` it would make new pods up to the limit. `ExitCode` is a policy of the Job's own: a new pod for codes
from 128, which does not count, and the end of the run for others. A pod that Kubernetes itself ends (an eviction, a
preemption, a lost node) has the condition DisruptionTarget and never counts, whatever its program returns. A Job takes
such rules only for pods that are never restarted, so that with `OnFailure` lost pods count as well. Of a pod that is
being deleted no second one is made, or two of one rank would write checkpoints.
*/}}
{{- define "training-job.jobPolicy" -}}
backoffLimit: {{ ternary 0 (include "training-job.backoffLimit" . | int64) (eq .Values.restartPolicy "Never") }}
podReplacementPolicy: Failed
{{- if eq .Values.restartPolicy "ExitCode" }}
podFailurePolicy:
  rules:
    - action: Ignore
      onPodConditions:
        - type: DisruptionTarget
          status: "True"
    - action: Ignore
      onExitCodes:
        operator: In
        values: [{{ range $code := until 128 }}{{ if $code }}, {{ end }}{{ add 128 $code }}{{ end }}]
    - action: FailJob
      onExitCodes:
        operator: NotIn
        values: [0]
{{- end }}
{{- range $field := list "activeDeadlineSeconds" "ttlSecondsAfterFinished" }}
{{- if not (kindIs "invalid" (index $.Values.runPolicy $field)) }}
{{ $field }}: {{ index $.Values.runPolicy $field | int64 }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
training-job.podGroupPolicy: has Trainer make a PodGroup of all pods and what they request. Volcano's queue is an
annotation. Empty without a gang scheduler.
*/}}
{{- define "training-job.podGroupPolicy" -}}
{{- $gang := .Values.scheduling.gang -}}
{{- if eq $gang.scheduler "volcano" -}}
volcano: {}
{{- else if eq $gang.scheduler "scheduler-plugins" -}}
{{- $seconds := $gang.timeoutSeconds -}}
coscheduling: {{ ternary dict (dict "scheduleTimeoutSeconds" (int64 $seconds)) (kindIs "invalid" $seconds) | toJson }}
{{- end -}}
{{- end -}}

{{/*
training-job.fixedPolicy: what a TrainJob cannot change once its JobSet is there, even while it is suspended. Other
kinds change their policy at any time.
*/}}
{{- define "training-job.fixedPolicy" -}}
{{- if eq .Values.kind "TrainJob" -}}
{{- $gang := include "training-job.podGroupPolicy" . | fromYaml -}}
{{- $job := include "training-job.jobPolicy" . | fromYaml -}}
{{- dict "gang" $gang "gangQueue" .Values.scheduling.gang.queue "job" $job | toYaml -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkTrainJob: fails for what neither Trainer nor a Job has. */}}
{{- define "training-job.checkTrainJob" -}}
{{- if eq .Values.restartPolicy "Always" -}}
{{- fail "restartPolicy: a TrainJob does not support Always; write OnFailure" -}}
{{- end -}}
{{- $policy := .Values.runPolicy -}}
{{- if eq $policy.cleanPodPolicy "All" -}}
{{- $advice := "write None, and set runPolicy.ttlSecondsAfterFinished" -}}
{{- fail (printf "runPolicy.cleanPodPolicy: the Job of a TrainJob keeps finished pods; %s" $advice) -}}
{{- end -}}
{{- if eq ($policy.managedBy | default "") "kubeflow.org/training-operator" -}}
{{- fail "runPolicy.managedBy: the training operator does not run a TrainJob; remove it" -}}
{{- end -}}
{{- $gang := .Values.scheduling.gang -}}
{{- if $gang.minResources -}}
{{- fail "scheduling.gang.minResources: Trainer adds up what the pods of a TrainJob request; remove it" -}}
{{- end -}}
{{- if $gang.priorityClassName -}}
{{- $advice := "set placement.priorityClassName" -}}
{{- fail (printf "scheduling.gang.priorityClassName: the PodGroup of a TrainJob has the PriorityClass of the pods; %s" $advice) -}}
{{- end -}}
{{- if .Values.upgrade.force -}}
{{- $advice := "remove it, and install the run again" -}}
{{- fail (printf "upgrade.force: new pods of a TrainJob would keep the old values too; %s" $advice) -}}
{{- end -}}
{{- end -}}
