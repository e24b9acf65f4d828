{{/*
training-job.start: the command of a pod's container, as a YAML list, which `training-job.args` follows. Nothing where
the operator fills it in. Paddle's launcher writes its logs below the working folder unless told otherwise, where a
read-only root has no room. Takes a dict: `root` is the root context, `role` the pod's.
*/}}
{{- define "training-job.start" -}}
{{- $kind := .root.Values.kind -}}
{{- if include "training-job.isPyTorch" .root -}}
{{- include "training-job.command" .root -}}
{{- else if and (eq $kind "MPIJob") (eq .role "Worker") -}}
{{- include "training-job.sshd" .root -}}
{{- else -}}
{{- if eq $kind "MPIJob" -}}
{{- include "training-job.mpirun" .root -}}
{{- end -}}
{{- include "training-job.ownCommand" .root }}
{{- if eq $kind "PaddleJob" }}
- -m
- paddle.distributed.launch
- --nproc_per_node={{ include "training-job.processes" .root }}
- --log_dir=/tmp/paddle
{{- end }}
{{- end -}}
{{- end -}}
