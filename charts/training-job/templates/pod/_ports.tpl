{{/*
training-job.ports: the ports that the container of a role declares, as a YAML list. Takes what `training-job.pod` takes.
*/}}
{{- define "training-job.ports" -}}
{{- $pod := . -}}
{{- with .root -}}
{{- with (include "training-job.kind" . | fromYaml).port }}
- name: {{ .name }}
  containerPort: {{ .number | default $pod.root.Values.torchrun.port | int64 }}
{{- end }}
{{- if and (eq (include "training-job.operator" .) "mpi-operator") (eq $pod.role "Worker") }}
- name: ssh
  containerPort: {{ int64 .Values.mpi.ssh.port }}
{{- end }}
{{- if and .Values.metrics.enabled $pod.part.node }}
- name: metrics
  containerPort: {{ int64 .Values.metrics.port }}
{{- end }}
{{- end -}}
{{- end -}}

{{/*
training-job.checkPorts: fails when two listeners of a pod are given one port: the containers share its network, and the
second of them would die. Takes the root context.
*/}}
{{- define "training-job.checkPorts" -}}
{{- $own := (include "training-job.kind" . | fromYaml).port | default dict -}}
{{- $ports := dict "torchrun.port" .Values.torchrun.port -}}
{{- if not (include "training-job.isPyTorch" .) -}}
{{- $ports = dict (printf "the port of kind %s" .Values.kind) ($own.number | default .Values.mpi.ssh.port) -}}
{{- end -}}
{{- range $part := list "metrics" "tensorboard" -}}
{{- $values := get $.Values $part -}}
{{- if $values.enabled -}}
{{- range $name, $port := $ports -}}
{{- if eq (int64 $port) (int64 $values.port) -}}
{{- fail (printf "%s.port and %s are both %d, in the same pod: use different ports" $part $name (int64 $port)) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $ports (printf "%s.port" $part) $values.port -}}
{{- end -}}
{{- end -}}
{{- end -}}
