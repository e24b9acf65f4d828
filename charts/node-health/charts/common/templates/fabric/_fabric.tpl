{{/*
Additions of the fast network to a run: the profile (_profile.tpl) and the values that override it. Each helper takes the
root context and renders one part of a pod that is a node of the run. With the profile `none` and no value set it renders
nothing. Pods that only serve the nodes get the variables alone, because mpirun passes them on.
*/}}

{{/*
common.hasGpus: `true` for pods with GPUs, or with claims, whose devices are unknown here and may be GPUs.
*/}}
{{- define "common.hasGpus" -}}
{{- $gpus := not (empty .Values.resourceClaims) -}}
{{- range $name, $quantity := .Values.resources.limits -}}
{{- $gpus = or $gpus (regexMatch (include "common.acceleratorPattern" $) $name) -}}
{{- end -}}
{{- $gpus -}}
{{- end -}}

{{/*
common.fabric.check: fails for combinations that cannot work. NCCL between pods without GPUs would not start, and a
profile is easily left in the values when a run is tried on CPU. Takes (dict "root" <root context> "nodes" <maximum number
of nodes of the run>).
*/}}
{{- define "common.fabric.check" -}}
{{- $several := gt (int .nodes) 1 -}}
{{- with .root -}}
{{- $values := .Values -}}
{{- $fabric := .Values.fabric -}}
{{- if and (ne $fabric.profile "none") $several (ne (include "common.hasGpus" .) "true") -}}
{{- $advice := "set resources.limits, e.g. nvidia.com/gpu: 8, or fabric.profile: none" -}}
{{- fail (printf "fabric.profile %s: NCCL connects GPUs and these pods have none; %s" $fabric.profile $advice) -}}
{{- end -}}
{{- include "common.fabric.checkNeeds" . -}}
{{- range $name := keys .Values.nccl | sortAlpha -}}
{{- if or (hasKey $values.env $name) (hasKey $values.envSecrets $name) -}}
{{- fail (printf "%s is set in nccl and in env or envSecrets: remove one of the two" $name) -}}
{{- end -}}
{{- end -}}
{{- if and $fabric.networks $fabric.hostNetwork -}}
{{- fail "fabric.networks: a pod with fabric.hostNetwork attaches no other network; remove one of the two" -}}
{{- end -}}
{{- $names := list -}}
{{- range (include "common.claims" . | fromYaml).claims -}}
{{- if has .name $names -}}
{{- fail (printf "resourceClaims: two claims are called %s; give each a name of its own" .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
common.fabric.variables: name to value of the profile, `fabric.env` and `nccl`, without the names that the run sets
itself: of two entries with one name Kubernetes keeps the last, and a reader sees the first.
*/}}
{{- define "common.fabric.variables" -}}
{{- $fabric := .Values.fabric -}}
{{- $env := dict -}}
{{- range $variables := (include "common.fabric" . | fromYaml).env -}}
{{- $env = merge $env $variables -}}
{{- end -}}
{{- if $fabric.topologyFile.configMap -}}
{{- $_ := set $env "NCCL_TOPO_FILE" $fabric.topologyFile.path -}}
{{- end -}}
{{- range $values := list $fabric.env .Values.nccl -}}
{{- range $name, $value := $values -}}
{{- $_ := set $env $name $value -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := $env -}}
{{- if or (kindIs "invalid" $value) (hasKey $.Values.env $name) (hasKey $.Values.envSecrets $name) -}}
{{- $env = omit $env $name -}}
{{- end -}}
{{- end -}}
{{- toYaml $env -}}
{{- end -}}

{{/* common.fabric.resources: extended resources, name to quantity. */}}
{{- define "common.fabric.resources" -}}
{{- $profile := include "common.fabric" . | fromYaml -}}
{{- $rails := .Values.fabric.rails | default (len (.Values.fabric.networks | default list)) | default $profile.rails -}}
{{- $resources := dict -}}
{{- range $resource := $profile.resources -}}
{{- if ne (toString $resource.quantity) "perRail" -}}
{{- $_ := set $resources $resource.name $resource.quantity -}}
{{- else if not $.Values.fabric.hostNetwork -}}
{{- $_ := set $resources $resource.name (int $rails) -}}
{{- end -}}
{{- end -}}
{{- range $name, $quantity := .Values.fabric.resources -}}
{{- $resources = omit $resources $name -}}
{{- if not (kindIs "invalid" $quantity) -}}
{{- $_ := set $resources $name $quantity -}}
{{- end -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{/* common.fabric.capabilities: `add` with the capabilities that the fabric needs. */}}
{{- define "common.fabric.capabilities" -}}
{{- $added := .Values.fabric.capabilities -}}
{{- if kindIs "invalid" $added -}}
{{- $added = (include "common.fabric" . | fromYaml).capabilities -}}
{{- end -}}
{{- with $added -}}
{{- dict "add" . | toYaml -}}
{{- end -}}
{{- end -}}

{{/*
common.fabric.security: a container's security context with these capabilities too. Takes (dict "root" <root context>
"security" <security context>).
*/}}
{{- define "common.fabric.security" -}}
{{- $security := deepCopy .security -}}
{{- $own := .security.capabilities | default dict -}}
{{- with (include "common.fabric.capabilities" .root | fromYaml).add -}}
{{- $added := dict "capabilities" (dict "add" (concat ($own.add | default list) . | uniq)) -}}
{{- $security = merge $added $security -}}
{{- end -}}
{{- toYaml $security -}}
{{- end -}}

{{/* common.fabric.annotations: annotations of the pods; Multus and GKE read the networks as JSON. */}}
{{- define "common.fabric.annotations" -}}
{{- $fabric := include "common.fabric" . | fromYaml -}}
{{- $annotations := $fabric.annotations | default dict -}}
{{- $networks := .Values.fabric.networks -}}
{{- $rails := .Values.fabric.rails | default 1 -}}
{{- if .Values.fabric.hostNetwork -}}
{{- $networks = list -}}
{{- else if kindIs "invalid" $networks -}}
{{- $networks = $fabric.networks | default list -}}
{{- $rails = .Values.fabric.rails | default $fabric.rails | default 1 -}}
{{- end -}}
{{- if gt (int $rails) 1 -}}
{{- $repeated := include "common.fabric.rails" (dict "networks" $networks "rails" $rails) | fromYaml -}}
{{- $networks = $repeated.networks -}}
{{- end -}}
{{- with $networks -}}
{{- $entries := list -}}
{{- $annotation := $fabric.networksAnnotation | default "k8s.v1.cni.cncf.io/networks" -}}
{{- range $network := . -}}
{{- if eq $annotation "k8s.v1.cni.cncf.io/networks" -}}
{{- $entries = append $entries $network -}}
{{- else if or (not $network.interface) (gt (len $network) 2) -}}
{{- fail (printf "fabric.networks: on GKE an entry has a name and an interface alone, unlike %s" $network.name) -}}
{{- else -}}
{{- $entries = append $entries (dict "interfaceName" $network.interface "network" $network.name) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $annotations $annotation (toRawJson $entries) -}}
{{- end -}}
{{- toYaml $annotations -}}
{{- end -}}

{{/*
common.fabric.rails: one network as many times as there are rails, each with an interface of its own. Takes (dict
"networks" <list> "rails" <number>).
*/}}
{{- define "common.fabric.rails" -}}
{{- if ne (len .networks) 1 -}}
{{- $advice := "name one network, or remove fabric.rails" -}}
{{- fail (printf "fabric.rails repeats one network and there are %d; %s" (len .networks) $advice) -}}
{{- end -}}
{{- $network := first .networks -}}
{{- if omit $network "name" "namespace" -}}
{{- fail "fabric.rails: an interface, addresses or routes cannot be the same on every rail; name each network" -}}
{{- end -}}
networks:
  {{- range $rail := until (int .rails) }}
  - {{ merge (dict "interface" (printf "net%d" (add1 $rail))) $network | toRawJson }}
  {{- end }}
{{- end -}}

{{/* common.fabric.mounts: folders of the node, `mounts` for the program and `volumes` of all containers. */}}
{{- define "common.fabric.mounts" -}}
{{- $fabric := include "common.fabric" . | fromYaml -}}
{{- $mounts := .Values.fabric.mounts -}}
{{- if kindIs "invalid" $mounts -}}
{{- $mounts = $fabric.mounts | default list -}}
{{- end -}}
{{- toYaml (dict "mounts" $mounts "volumes" (concat $mounts ($fabric.sidecarVolumes | default list))) -}}
{{- end -}}

{{/* common.fabric.volumeMounts: the folders and the topology file in the program's container. */}}
{{- define "common.fabric.volumeMounts" -}}
{{- range (include "common.fabric.mounts" . | fromYaml).mounts }}
- name: {{ printf "fabric-%s" .name }}
  mountPath: {{ .mountPath | quote }}
  {{- if .readOnly }}
  readOnly: true
  {{- end }}
{{- end }}
{{- with .Values.fabric.topologyFile }}
{{- if .configMap }}
- name: fabric-topology
  mountPath: {{ .path | quote }}
  subPath: {{ .key | quote }}
  readOnly: true
{{- end }}
{{- end }}
{{- end -}}

{{/* common.fabric.volumes: a missing folder must stop the pod from starting; the runtime would create an empty one. */}}
{{- define "common.fabric.volumes" -}}
{{- range (include "common.fabric.mounts" . | fromYaml).volumes }}
- name: {{ printf "fabric-%s" .name }}
  hostPath:
    path: {{ .hostPath | quote }}
    type: Directory
{{- end }}
{{- with .Values.fabric.topologyFile.configMap }}
- name: fabric-topology
  configMap:
    name: {{ . | quote }}
{{- end }}
{{- end -}}

{{/* common.fabric.daemon: the fabric's native sidecar, as an entry of the init containers; its image is a value. */}}
{{- define "common.fabric.daemon" -}}
{{- with (include "common.fabric" . | fromYaml).sidecar }}
- {{ merge (dict "image" $.Values.fabric.tcpxo.daemonImage "terminationMessagePolicy" "FallbackToLogsOnError") . | toYaml | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/*
common.fabric.pod: fields of the pod's spec. In the host's network the default DNS policy would use the node's resolver,
which cannot resolve pods.
*/}}
{{- define "common.fabric.pod" -}}
{{- if .Values.fabric.hostNetwork }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
{{- with (include "common.claims" . | fromYaml).claims }}
resourceClaims:
  {{- range . }}
  - {{ omit . "request" | toRawJson }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* common.claims: `resourceClaims` and the channel of the run's ComputeDomain. */}}
{{- define "common.claims" -}}
{{- $claims := .Values.resourceClaims | default list -}}
{{- if .Values.fabric.computeDomain.enabled -}}
{{- $template := include "common.channelName" . -}}
{{- $claims = append $claims (dict "name" "compute-domain-channel" "resourceClaimTemplateName" $template) -}}
{{- end -}}
{{- toYaml (dict "claims" $claims) -}}
{{- end -}}
