{{/*
training-job.name: the name of the run's object: `fullnameOverride`, or the release's name, followed by `nameOverride` if
there is one. Fails if the operator cannot use it. The name must be a DNS label that begins with a letter. Each pod's name is also the name of a Service and a host, so the longest,
such as <release>-worker-<index>, must fit in 63 characters. In a TrainJob it is <release>-node-0-<index> with six more
characters. Takes the root context.
*/}}
{{- define "training-job.name" -}}
{{- $suffix := .Values.nameOverride -}}
{{- $derived := ternary .Release.Name (printf "%s-%s" .Release.Name $suffix) (or (not $suffix) (contains $suffix .Release.Name)) -}}
{{- $name := .Values.fullnameOverride | default $derived -}}
{{- $what := ternary "name" "release name" (ne $name .Release.Name) -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) -}}
{{- $advice := "begin with a letter and use only a-z, 0-9 and -, e.g. run-42" -}}
{{- fail (printf "%s %q cannot name a run: %s" $what $name $advice) -}}
{{- end -}}
{{- $longest := "" -}}
{{- range $role, $part := include "training-job.roles" . | fromYaml -}}
{{- $last := ternary "" (sub $part.most 1 | printf "-%d") (eq $role "Launcher") -}}
{{- if eq $.Values.kind "TrainJob" -}}
{{- $last = printf "-0%s-xxxxx" $last -}}
{{- end -}}
{{- $pod := printf "%s-%s%s" $name (lower $role) $last -}}
{{- $longest = ternary $pod $longest (gt (len $pod) (len $longest)) -}}
{{- end -}}
{{- $excess := sub (len $longest) 63 -}}
{{- if gt $excess 0 -}}
{{- $reason := printf "the name of the pod %s would exceed 63 characters" $longest -}}
{{- fail (printf "%s %q is too long by %d: %s" $what $name $excess $reason) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* training-job.claimName: the claim that holds the checkpoints, an existing one or this release's. */}}
{{- define "training-job.claimName" -}}
{{- .Values.checkpoints.existingClaim | default (printf "%s-checkpoints" (include "training-job.name" .)) -}}
{{- end -}}
