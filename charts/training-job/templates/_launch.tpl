{{/*
How torchrun is started. Everything is an argv list: no shell stands between the values and the program.
*/}}

{{/*
training-job.command: torchrun with its options, as a YAML list. With a Master the operator tells torchrun the address,
the rank and the number of nodes through PET_* variables. Without one it sets no address, so the Workers meet at
worker 0, under the name of the Service that the operator makes for it. That name resolves only once the pod runs:
torchrun asks again until the timeout.
*/}}
{{- define "training-job.command" -}}
{{- $timeout := int .Values.torchrun.timeoutSeconds -}}
{{- range .Values.torchrun.command }}
- {{ include "common.literal" . }}
{{- end }}
{{- if eq .Values.layout "worker-only" }}
{{- $name := include "training-job.name" . }}
- --nnodes={{ .Values.nodes }}
- --nproc-per-node={{ .Values.processesPerNode }}
- --rdzv-backend=c10d
- --rdzv-endpoint={{ $name }}-worker-0:{{ .Values.torchrun.port }}
- --rdzv-id={{ $name }}
- --rdzv-conf=read_timeout={{ $timeout }},join_timeout={{ $timeout }}
{{- else }}
- --rdzv-conf=timeout={{ $timeout }}
{{- end }}
{{- range .Values.torchrun.args }}
- {{ include "common.literal" . }}
{{- end }}
{{- end -}}

{{/* training-job.args: the program and its arguments, as a YAML list. */}}
{{- define "training-job.args" -}}
{{- if .Values.train.script }}
- {{ include "common.literal" .Values.train.script }}
{{- else }}
- -m
- {{ include "common.literal" .Values.train.module }}
{{- end }}
{{- range .Values.train.args }}
- {{ include "common.literal" . }}
{{- end }}
{{- end -}}

{{/*
training-job.env: the environment, without the names that the operator appends to it: of two entries with one name the
last counts, so a value of the user's would be lost without a word.
*/}}
{{- define "training-job.env" -}}
{{- $owned := list "MASTER_ADDR" "MASTER_PORT" "WORLD_SIZE" "RANK" "PYTHONUNBUFFERED" "PET_MASTER_ADDR"
    "PET_MASTER_PORT" "PET_NNODES" "PET_NODE_RANK" "PET_NPROC_PER_NODE" -}}
{{- $advice := "remove it and use nodes, processesPerNode or torchrun.port" -}}
{{- range $name := concat (keys .Values.env) (keys .Values.envSecrets) | sortAlpha }}
{{- if has $name $owned }}
{{- fail (printf "env.%s: the training operator sets it in every pod and its value wins; %s" $name $advice) }}
{{- end }}
{{- end }}
{{- $env := .Values.env -}}
{{- with include "training-job.saveEnv" . -}}
{{- $env = merge (deepCopy $env) (fromYaml .) -}}
{{- end -}}
{{- include "common.env" (dict "env" $env "secrets" .Values.envSecrets) }}
{{- end -}}
