{{/* training-job.checkNetwork: fails for a policy that would have no effect. Takes the root context. */}}
{{- define "training-job.checkNetwork" -}}
{{- if .Values.fabric.hostNetwork -}}
{{- range $name, $wanted := dict "networkPolicy" .Values.networkPolicy.enabled
    "multiNetworkPolicy" .Values.multiNetworkPolicy.networks -}}
{{- if $wanted -}}
{{- fail (printf "%s: policies do not apply to pods in the host's network; remove it, or fabric.hostNetwork" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-job.releasePods: the selector of all pods of the release. It is made of the chart's own labels, which every pod
template has, whatever the kind of the job: the operator's label job-name says something else on the pods of
`helm test`, which must live under the same rules. Takes the root context.
*/}}
{{- define "training-job.releasePods" -}}
matchLabels:
  {{- include "common.selectorLabels" . | nindent 2 }}
{{- end -}}

{{/*
training-job.peerRule: the rule that lets the release's pods reach each other, as an item of `ingress` (side `from`) or
`egress` (side `to`). It names no ports: gloo, NCCL and torchrun listen on whatever port the kernel gives them. Takes
(dict "side" <from or to> "root" <root context>).
*/}}
{{- define "training-job.peerRule" -}}
- {{ .side }}:
    - podSelector:
        {{- include "training-job.releasePods" .root | nindent 8 }}
{{- end -}}

{{/*
training-job.policyRules: the entries of an `allow`, as a YAML list of rules. Takes (dict "entries" <list> "side" <from
or to> "name" <the value's name>).
*/}}
{{- define "training-job.policyRules" -}}
{{- range .entries }}
{{- $entry := . -}}
{{- $peer := dict -}}
{{- range $field, $selector := dict "podLabels" "podSelector" "namespaceLabels" "namespaceSelector" -}}
{{- if hasKey $entry $field -}}
{{- $labels := get $entry $field | default dict -}}
{{- $_ := set $peer $selector (ternary (dict "matchLabels" $labels) dict (gt (len $labels) 0)) -}}
{{- end -}}
{{- end -}}
{{- if .cidr -}}
{{- if $peer -}}
{{- fail (printf "%s: cidr %s cannot be combined with labels: use two entries" $.name .cidr) -}}
{{- end -}}
{{- $_ := set $peer "ipBlock" (dict "cidr" .cidr) -}}
{{- end }}
- {{ $.side }}:
    - {{ toYaml $peer | nindent 6 | trim }}
  {{- with .ports }}
  ports:
    {{- range . }}
    - port: {{ if kindIs "string" . }}{{ . | quote }}{{ else }}{{ int64 . }}{{ end }}
      protocol: TCP
    {{- end }}
  {{- end }}
{{- end }}
{{- end -}}
