{{/*
End of the run and termination of its pods. Every helper takes the root context.
*/}}

{{/*
training-job.grace: {terminationGracePeriodSeconds: <number>}, or `{}` to leave it to Kubernetes. The hook runs within
that period: the kubelet takes its time off (Kubernetes v1.34.4, pkg/kubelet/kuberuntime/kuberuntime_container.go:
killContainer). A derived period has 30 s to spare, for the signal to reach the program and for volumes that are slow.
*/}}
{{- define "training-job.grace" -}}
{{- $given := .Values.terminationGracePeriodSeconds -}}
{{- $needed := add (.Values.preStop.seconds | int64) (.Values.saveSeconds | default 0 | int64) -}}
{{- if kindIs "invalid" $given -}}
{{- if gt $needed 0 -}}
{{- dict "terminationGracePeriodSeconds" (add $needed 30) | toYaml -}}
{{- end -}}
{{- else -}}
{{- if gt $needed (int64 $given) -}}
{{- $sum := printf "preStop.seconds and saveSeconds take %d" $needed -}}
{{- $advice := "raise it, or set it to null to derive it" -}}
{{- fail (printf "terminationGracePeriodSeconds is %d, and %s: %s" (int64 $given) $sum $advice) -}}
{{- end -}}
{{- dict "terminationGracePeriodSeconds" (int64 $given) | toYaml -}}
{{- end -}}
{{- end -}}

{{/*
training-job.saveEnv: a variable for torchrun, which otherwise kills its processes 30 s after it has passed SIGTERM on,
whatever the pod's grace period (pytorch/pytorch#172596; PyTorch before 2.12 does not know the variable). One of the
user's goes before it.
*/}}
{{- define "training-job.saveEnv" -}}
{{- $own := hasKey .Values.envSecrets "TORCH_ELASTIC_SHUTDOWN_TIMEOUT" -}}
{{- $isTorch := include "training-job.isPyTorch" . -}}
{{- if and $isTorch (gt (.Values.saveSeconds | default 0 | int64) 30) (not $own) -}}
TORCH_ELASTIC_SHUTDOWN_TIMEOUT: {{ .Values.saveSeconds | int64 }}
{{- end -}}
{{- end -}}

{{/*
training-job.preStop: the container's hook. Its words are not expanded by Kubernetes as those of a container's command
are, so they stand here as they are.
*/}}
{{- define "training-job.preStop" -}}
{{- with .Values.preStop.command -}}
exec:
  command:
    {{- range . }}
    - {{ toRawJson . }}
    {{- end }}
{{- else -}}
{{- if gt (.Values.preStop.seconds | int64) 0 -}}
sleep:
  seconds: {{ .Values.preStop.seconds | int64 }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-job.backoffLimit: the operator adds up the restarts of all pods and fails the run when the sum reaches the
limit, so it is one more than what is allowed; the Job of a TrainJob does the same. A fault of an MPIJob restarts the
launcher alone. With `Never` the MPI operator's Job would still make a new launcher up to the limit. A node of 8 GPUs has
a fault in 264 days (419 faults in 54 days on 16,384 GPUs, arXiv:2407.21783, section 3.3.4): an eighth of the nodes is
the number of faults of a month.
*/}}
{{- define "training-job.backoffLimit" -}}
{{- $policy := .Values.runPolicy -}}
{{- $restarts := $policy.restartsPerNode -}}
{{- if kindIs "invalid" $restarts -}}
{{- $restarts = max 3 (div (include "training-job.mostNodes" . | int) 8) -}}
{{- end -}}
{{- $isMpi := eq .Values.kind "MPIJob" -}}
{{- $pods := 0 -}}
{{- range include "training-job.roles" . | fromYaml -}}
{{- $pods = add $pods .most -}}
{{- end -}}
{{- if not (kindIs "invalid" $policy.backoffLimit) -}}
{{- $policy.backoffLimit | int64 -}}
{{- else if or (eq (int $restarts) 0) (and $isMpi (eq .Values.restartPolicy "Never")) -}}
0
{{- else -}}
{{- mul $restarts (ternary 1 $pods $isMpi) | add1 -}}
{{- end -}}
{{- end -}}

{{/*
training-job.cleanPodPolicy: Workers of an MPIJob and parameter servers of a TFJob never end by themselves: kept, they
would hold their devices.
*/}}
{{- define "training-job.cleanPodPolicy" -}}
{{- $policy := .Values.runPolicy.cleanPodPolicy -}}
{{- $roles := include "training-job.roles" . | fromYaml -}}
{{- $endless := or (eq .Values.kind "MPIJob") (hasKey $roles "PS") -}}
{{- ternary "Running" $policy (and $endless (eq $policy "None")) -}}
{{- end -}}
