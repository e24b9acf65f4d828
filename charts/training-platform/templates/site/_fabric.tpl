{{/*
Fabric settings of the runs on this site. The fields are those of `fabric` in charts/training-job.
*/}}

{{/* training-platform.madeNetworks: the networks that this release creates, as JSON. */}}
{{- define "training-platform.madeNetworks" -}}
{{- if .Values.networks.enabled -}}
{{- include "training-networks.networks" .Subcharts.networks -}}
{{- else -}}
[]
{{- end -}}
{{- end -}}

{{/*
training-platform.runNetworks: the networks of a run as JSON. On GKE, pods attach GKE's own networks with another
annotation, and the profile names them.
*/}}
{{- define "training-platform.runNetworks" -}}
{{- $networks := .Values.fabric.networks -}}
{{- if and (kindIs "invalid" $networks) (not (hasPrefix "gke-" .Values.fabric.profile)) -}}
{{- range include "training-platform.madeNetworks" . | fromJsonArray -}}
{{- $networks = append ($networks | default list) (pick . "name" "namespace") -}}
{{- end -}}
{{- end -}}
{{- $networks | default list | toJson -}}
{{- end -}}

{{/*
training-platform.runResources: `fabric.resources` of a run as JSON: one device for each network that needs one, and the
resources of the values.
*/}}
{{- define "training-platform.runResources" -}}
{{- $resources := dict -}}
{{- $made := dict -}}
{{- range include "training-platform.madeNetworks" . | fromJsonArray -}}
{{- $_ := set $made (printf "%s/%s" .namespace .name) .resourceName -}}
{{- end -}}
{{- range include "training-platform.runNetworks" . | fromJsonArray -}}
{{- with get $made (printf "%s/%s" (.namespace | default "") .name) -}}
{{- $_ := set $resources . (add (get $resources . | default 0) ($.Values.fabric.rails | default 1)) -}}
{{- end -}}
{{- end -}}
{{- range $name, $count := .Values.fabric.resources -}}
{{- $_ := set $resources $name $count -}}
{{- end -}}
{{- toJson $resources -}}
{{- end -}}

{{/* training-platform.resources: names of all extended resources that a run requests, as JSON. */}}
{{- define "training-platform.resources" -}}
{{- $resources := dict -}}
{{- range (include "common.fabric" . | fromYaml).resources -}}
{{- $_ := set $resources .name .quantity -}}
{{- end -}}
{{- range $name, $count := include "training-platform.runResources" . | fromJson -}}
{{- $resources = ternary (omit $resources $name) (set $resources $name $count) (kindIs "invalid" $count) -}}
{{- end -}}
{{- keys $resources | sortAlpha | toJson -}}
{{- end -}}

{{/*
training-platform.runValues: values of charts/training-job, the same for every run on this site. They name the kind where
the default is not served.
*/}}
{{- define "training-platform.runValues" -}}
{{- $fabric := dict "networks" (include "training-platform.runNetworks" . | fromJsonArray) -}}
{{- $_ := set $fabric "rails" (.Values.fabric.rails | default 0 | int) -}}
{{- $_ := set $fabric "resources" (include "training-platform.runResources" . | fromJson) -}}
{{- $_ := set $fabric "env" .Values.fabric.env -}}
fabric:
  profile: {{ .Values.fabric.profile }}
  {{- range $field, $value := $fabric }}
  {{- with $value }}
  {{- dict $field . | toYaml | nindent 2 }}
  {{- end }}
  {{- end }}
{{- $runs := deepCopy .Values.runs -}}
{{- if and .Values.trainer.enabled (not .Values.operator.enabled) -}}
{{- $runs = merge $runs (dict "kind" "TrainJob") -}}
{{- end -}}
{{- if .Values.queues.enabled -}}
{{- $queue := dict "scheduling" (dict "queue" (dict "name" .Values.queues.name)) -}}
{{- $runs = mergeOverwrite $runs $queue -}}
{{- end -}}
{{- if .Values.nodeHealth.enabled -}}
{{- $labels := append (dig "placement" "healthLabels" "forbidden" (list) $runs) "trainyard/quarantined" | uniq -}}
{{- $runs = mergeOverwrite $runs (dict "placement" (dict "healthLabels" (dict "forbidden" $labels))) -}}
{{- end }}
{{- with $runs }}
{{ toYaml . }}
{{- end }}
{{- end -}}
