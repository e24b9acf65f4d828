{{/*
What the fast network adds to a run: the profile's data (fabric/_<profile>.tpl) and the values that say otherwise. Each
helper takes the root context and writes one part of a pod that is a node of the run; with the profile `none` and no
value set it writes nothing. Pods that only serve the nodes get the variables alone: mpirun hands them on.
*/}}

{{/*
training-job.fabric: the profile's data as YAML. Its keys: env, resources, capabilities, annotations, networks (items as
in the values), networksAnnotation (Multus's where it is left out), rails, mounts, sidecar (a container) and
sidecarVolumes.
*/}}
{{- define "training-job.fabric" -}}
{{- if ne .Values.fabric.profile "none" -}}
{{- include (printf "training-job.fabric.%s" .Values.fabric.profile) . -}}
{{- end -}}
{{- end -}}

{{/*
training-job.fabric.check: fails for what cannot work. NCCL between pods without GPUs would not start, and a profile is
easily left behind when a run is tried on CPU; devices that a claim asks for cannot be seen here.
*/}}
{{- define "training-job.fabric.check" -}}
{{- $fabric := .Values.fabric -}}
{{- $limits := .Values.resources.limits | default dict -}}
{{- $gpus := false -}}
{{- range $name, $quantity := $limits -}}
{{- $gpus = or $gpus (regexMatch "^(nvidia[.]com/(gpu|mig-)|amd[.]com/gpu)" $name) -}}
{{- end -}}
{{- $several := gt (include "training-job.mostNodes" . | int) 1 -}}
{{- if and (ne $fabric.profile "none") $several (not $gpus) (not .Values.resourceClaims) -}}
{{- $advice := "set resources.limits, e.g. nvidia.com/gpu: 8, or fabric.profile: none" -}}
{{- fail (printf "fabric.profile %s: NCCL connects GPUs and these pods have none; %s" $fabric.profile $advice) -}}
{{- end -}}
{{- range $name := keys .Values.nccl | sortAlpha -}}
{{- if or (hasKey $.Values.env $name) (hasKey $.Values.envSecrets $name) -}}
{{- fail (printf "%s is set in nccl and in env or envSecrets: remove one of the two" $name) -}}
{{- end -}}
{{- end -}}
{{- if and $fabric.networks $fabric.hostNetwork -}}
{{- fail "fabric.networks: a pod in the host's network attaches no other; remove them, or fabric.hostNetwork" -}}
{{- end -}}
{{- $names := list -}}
{{- range (include "training-job.claims" . | fromYaml).claims -}}
{{- if has .name $names -}}
{{- fail (printf "resourceClaims: two claims are called %s; give each a name of its own" .name) -}}
{{- end -}}
{{- $names = append $names .name -}}
{{- end -}}
{{- end -}}

{{/*
training-job.fabric.variables: name to value of the profile, `fabric.env` and `nccl`, without the names that the run sets
itself: of two entries with one name Kubernetes keeps the last, and a reader sees the first.
*/}}
{{- define "training-job.fabric.variables" -}}
{{- $fabric := .Values.fabric -}}
{{- $env := dict -}}
{{- range $name, $value := (include "training-job.fabric" . | fromYaml).env -}}
{{- $_ := set $env $name $value -}}
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

{{/* training-job.fabric.resources: extended resources, name to quantity. */}}
{{- define "training-job.fabric.resources" -}}
{{- $resources := (include "training-job.fabric" . | fromYaml).resources | default dict -}}
{{- range $name, $quantity := .Values.fabric.resources -}}
{{- $resources = omit $resources $name -}}
{{- if not (kindIs "invalid" $quantity) -}}
{{- $_ := set $resources $name $quantity -}}
{{- end -}}
{{- end -}}
{{- toYaml $resources -}}
{{- end -}}

{{/* training-job.fabric.capabilities: `add` with those that the fabric needs. */}}
{{- define "training-job.fabric.capabilities" -}}
{{- $added := .Values.fabric.capabilities -}}
{{- if kindIs "invalid" $added -}}
{{- $added = (include "training-job.fabric" . | fromYaml).capabilities -}}
{{- end -}}
{{- with $added -}}
{{- dict "add" . | toYaml -}}
{{- end -}}
{{- end -}}

{{/*
training-job.fabric.security: what to lay over a container's security context so that it has these capabilities too.
Takes (dict "root" <root context> "security" <security context>).
*/}}
{{- define "training-job.fabric.security" -}}
{{- $own := .security.capabilities | default dict -}}
{{- with (include "training-job.fabric.capabilities" .root | fromYaml).add -}}
{{- dict "capabilities" (dict "add" (concat ($own.add | default list) . | uniq)) | toYaml -}}
{{- end -}}
{{- end -}}

{{/* training-job.fabric.annotations: of the pods; the networks are written as JSON, as Multus and GKE read them. */}}
{{- define "training-job.fabric.annotations" -}}
{{- $fabric := include "training-job.fabric" . | fromYaml -}}
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
{{- $repeated := include "training-job.fabric.rails" (dict "networks" $networks "rails" $rails) | fromYaml -}}
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
training-job.fabric.rails: one network as many times as there are rails, each with an interface of its own. Takes (dict
"networks" <list> "rails" <number>).
*/}}
{{- define "training-job.fabric.rails" -}}
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

{{/* training-job.fabric.mounts: folders of the node, `mounts` for the program and `volumes` of all containers. */}}
{{- define "training-job.fabric.mounts" -}}
{{- $fabric := include "training-job.fabric" . | fromYaml -}}
{{- $mounts := .Values.fabric.mounts -}}
{{- if kindIs "invalid" $mounts -}}
{{- $mounts = $fabric.mounts | default list -}}
{{- end -}}
{{- toYaml (dict "mounts" $mounts "volumes" (concat $mounts ($fabric.sidecarVolumes | default list))) -}}
{{- end -}}

{{/* training-job.fabric.volumeMounts: the folders and the topology file in the program's container. */}}
{{- define "training-job.fabric.volumeMounts" -}}
{{- range (include "training-job.fabric.mounts" . | fromYaml).mounts }}
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

{{/* training-job.fabric.volumes: a folder that a node lacks keeps a pod from starting; the runtime would make one. */}}
{{- define "training-job.fabric.volumes" -}}
{{- range (include "training-job.fabric.mounts" . | fromYaml).volumes }}
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

{{/* training-job.fabric.daemon: the fabric's native sidecar, as an entry of the init containers. */}}
{{- define "training-job.fabric.daemon" -}}
{{- with (include "training-job.fabric" . | fromYaml).sidecar }}
- {{ toYaml . | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/*
training-job.fabric.pod: fields of the pod's spec. In the host's network the default DNS policy would ask the node's
resolver, which knows no pods.
*/}}
{{- define "training-job.fabric.pod" -}}
{{- if .Values.fabric.hostNetwork }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
{{- with (include "training-job.claims" . | fromYaml).claims }}
resourceClaims:
  {{- range . }}
  - {{ omit . "request" | toRawJson }}
  {{- end }}
{{- end }}
{{- end -}}

{{/* training-job.claims: `resourceClaims` and the channel of the run's ComputeDomain. */}}
{{- define "training-job.claims" -}}
{{- $claims := .Values.resourceClaims | default list -}}
{{- if .Values.fabric.computeDomain.enabled -}}
{{- $template := include "training-job.channelName" . -}}
{{- $claims = append $claims (dict "name" "compute-domain-channel" "resourceClaimTemplateName" $template) -}}
{{- end -}}
{{- toYaml (dict "claims" $claims) -}}
{{- end -}}

{{/* training-job.channelName: the claim template that the ComputeDomain's controller makes for the run. */}}
{{- define "training-job.channelName" -}}
{{- printf "%s-compute-domain-channel" (include "training-job.name" .) -}}
{{- end -}}
