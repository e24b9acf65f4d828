{{/* Multi-Instance GPU (MIG): parts of a GPU. */}}

{{/*
gpu-rdma-policy.migName: the name of the ConfigMap with the layouts. It does not depend on the layouts: a new name would
restart the manager, which would then partition the GPUs immediately, under the running jobs. Takes the root context.
*/}}
{{- define "gpu-rdma-policy.migName" -}}
{{ include "common.fullname" . | trunc 50 | trimSuffix "-" }}-mig-layouts
{{- end -}}

{{/* gpu-rdma-policy.migManager: the manager in the ClusterPolicy. Takes the root context. */}}
{{- define "gpu-rdma-policy.migManager" -}}
{{- include "gpu-rdma-policy.checkMig" . -}}
{{- $isOn := ne .Values.mig.strategy "none" -}}
enabled: {{ $isOn }}
{{- if $isOn }}
{{ include "gpu-rdma-policy.operand" (dict "name" "migManager" "root" .) }}
config:
  default: all-disabled
  {{- if .Values.mig.layouts }}
  name: {{ include "gpu-rdma-policy.migName" . }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* gpu-rdma-policy.migLayouts: the manager's configuration as YAML. Takes the root context. */}}
{{- define "gpu-rdma-policy.migLayouts" -}}
{{- include "gpu-rdma-policy.checkMig" . -}}
{{- $layouts := dict "all-disabled" (list (dict "devices" "all" "mig-enabled" false)) -}}
{{- range $name, $layout := .Values.mig.layouts -}}
{{- $entries := list -}}
{{- range $layout -}}
{{- $entry := dict "devices" (.devices | default "all") "mig-enabled" (not (empty .instances)) -}}
{{- with .models -}}{{- $_ := set $entry "device-filter" . -}}{{- end -}}
{{- with .instances -}}{{- $_ := set $entry "mig-devices" . -}}{{- end -}}
{{- $entries = append $entries $entry -}}
{{- end -}}
{{- $_ := set $layouts $name $entries -}}
{{- end -}}
{{- dict "version" "v1" "mig-configs" $layouts | toYaml -}}
{{- end -}}

{{/*
gpu-rdma-policy.migProfiles: the MIG profiles of all GPUs, as a JSON list. Source: NVIDIA/gpu-operator v26.7.0
assets/state-mig-manager/0400_configmap.yaml.
*/}}
{{- define "gpu-rdma-policy.migProfiles" -}}
{{- list
    "1g.5gb" "1g.5gb+me" "1g.6gb" "1g.6gb+me" "1g.10gb" "1g.10gb+me" "1g.12gb" "1g.12gb+me" "1g.18gb"
    "1g.18gb+me" "1g.20gb" "1g.23gb" "1g.23gb+me" "1g.24gb" "1g.24gb+gfx" "1g.24gb+me" "1g.24gb+me.all"
    "1g.24gb-me" "1g.34gb" "1g.34gb+me" "1g.35gb" "1g.35gb+me" "1g.36gb" "1g.45gb" "1g.47gb" "1g.67gb" "1g.70gb"
    "2g.10gb" "2g.12gb" "2g.12gb+me" "2g.20gb" "2g.24gb" "2g.35gb" "2g.36gb" "2g.45gb" "2g.47gb" "2g.48gb"
    "2g.48gb+gfx" "2g.48gb+me.all" "2g.48gb-me" "2g.67gb" "2g.70gb" "3g.20gb" "3g.40gb" "3g.47gb" "3g.48gb"
    "3g.71gb" "3g.72gb" "3g.90gb" "3g.93gb" "3g.95gb" "3g.135gb" "3g.139gb" "4g.20gb" "4g.24gb" "4g.40gb"
    "4g.47gb" "4g.48gb" "4g.71gb" "4g.72gb" "4g.90gb" "4g.93gb" "4g.95gb" "4g.96gb" "4g.96gb+gfx" "4g.135gb"
    "4g.139gb" "7g.40gb" "7g.80gb" "7g.94gb" "7g.96gb" "7g.141gb" "7g.144gb" "7g.180gb" "7g.186gb" "7g.189gb"
    "7g.269gb" "7g.278gb" | toJson -}}
{{- end -}}

{{/* gpu-rdma-policy.checkMig: fails for layouts that no GPU supports. Takes the root context. */}}
{{- define "gpu-rdma-policy.checkMig" -}}
{{- $mig := .Values.mig -}}
{{- if and $mig.layouts (eq $mig.strategy "none") -}}
{{- fail "mig.layouts: with mig.strategy none, pods get whole GPUs; write single or mixed, or remove the layouts" -}}
{{- end -}}
{{- $profiles := include "gpu-rdma-policy.migProfiles" . | fromJsonArray -}}
{{- range $name, $layout := $mig.layouts -}}
{{- $where := printf "mig.layouts.%s" $name -}}
{{- if or (eq $name "all-disabled") (not (regexMatch "^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$" $name)) -}}
{{- fail (printf "%s: the name must be a label value, and all-disabled always exists; use another name" $where) -}}
{{- end -}}
{{- range $layout -}}
{{- $slices := 0 -}}
{{- range $profile, $count := .instances -}}
{{- if not (has $profile $profiles) -}}
{{- $near := list -}}
{{- range $profiles -}}
{{- if hasPrefix (regexFind "^[0-9]+g" $profile | default "-") . -}}{{- $near = append $near . -}}{{- end -}}
{{- end -}}
{{- $advice := "or name a ConfigMap of your own in gpu.spec.migManager.config.name" -}}
{{- fail (printf "%s: no GPU has the profile %s; write one of %s, %s" $where $profile (join ", " ($near | default $profiles))
    $advice) -}}
{{- end -}}
{{- $slices = add $slices (mul (regexFind "^[0-9]+" $profile | int) (int $count)) -}}
{{- end -}}
{{- if gt $slices 7 -}}
{{- fail (printf "%s: %d slices, but a GPU has at most seven; write fewer instances" $where $slices) -}}
{{- end -}}
{{- if and (eq $mig.strategy "single") (gt (len .instances) 1) -}}
{{- fail (printf "%s: mig.strategy single requires equal parts, but the layout has %s; write mixed, or one profile" $where
    (keys .instances | sortAlpha | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
