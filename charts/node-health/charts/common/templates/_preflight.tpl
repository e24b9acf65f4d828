{{/*
The program that measures the network between nodes, which charts hold in files/preflight.
*/}}

{{/* common.preflight.programs: its files as data of a ConfigMap. Takes the root context. */}}
{{- define "common.preflight.programs" -}}
{{- range $name := list "measuring" "nccl_tests" "pairs" "preflight" "remote" "roll_call" "transports" }}
{{ $name }}.py: |
  {{- $.Files.Get (printf "files/preflight/%s.py" $name) | nindent 2 }}
{{- end }}
{{- end -}}

{{/*
common.preflight.command: {command, args} of a pod of an Indexed Job. torchrun starts the processes of one node and waits
for no other node. The program itself waits, so that it can report the missing nodes. The node's number is the pod's index
in the Job, which Kubernetes puts into the environment and expands here. Takes (dict "root" <root context> "name" <name of
the Job and its Service> "nodes" <number> "options" <map of the program's options>).
*/}}
{{- define "common.preflight.command" -}}
{{- $options := dict "nodes" (int64 .nodes) "index" "$(JOB_COMPLETION_INDEX)"
    "address" (printf "%s-0.%s" .name .name) "port" (int64 .root.Values.torchrun.port) -}}
command:
  {{- range .root.Values.torchrun.command }}
  - {{ include "common.literal" . }}
  {{- end }}
  - --standalone
  - --nproc-per-node={{ include "common.processes" .root }}
args:
  - /preflight/preflight.py
  {{- range $name, $value := merge $options .options }}
  - {{ printf "--%s=%v" $name $value | toRawJson }}
  {{- end }}
{{- end -}}

{{/* common.preflight.nodeName: the environment variable with the name of the pod's node. */}}
{{- define "common.preflight.nodeName" -}}
name: NODE_NAME
valueFrom:
  fieldRef:
    fieldPath: spec.nodeName
{{- end -}}
