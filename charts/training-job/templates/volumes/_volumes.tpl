{{/*
Volumes of the values: `volumes` and `scratch`. What every run has (checkpoints, /dev/shm, /tmp) is in pod/_pod.tpl.
*/}}

{{/*
training-job.checkVolumes: fails for volumes that Kubernetes would refuse when the operator makes the pods, long after
`helm install` has said that all is well, and for claims that no second node could mount. Takes the root context.
*/}}
{{- define "training-job.checkVolumes" -}}
{{- $sources := list "claim" "create" "emptyDir" "ephemeral" "configMap" "secret" "hostPath" "nfs" -}}
{{- $names := list "checkpoints" "shared-memory" "tmp" "launch" "deepspeed-scratch" "scratch" "dataset"
    "dataset-source" "flight-recorder" "preflight" -}}
{{- $paths := dict "/tmp" "temporaryStorage" -}}
{{- if .Values.sharedMemory.enabled -}}
{{- $_ := set $paths "/dev/shm" "sharedMemory" -}}
{{- end -}}
{{- $checkpoints := trimSuffix "/" .Values.checkpoints.mountPath -}}
{{- if hasKey $paths $checkpoints -}}
{{- fail (printf "checkpoints.mountPath is %s, where %s is mounted: choose another path" $checkpoints (get $paths $checkpoints)) -}}
{{- end -}}
{{- $_ := set $paths $checkpoints "checkpoints" -}}
{{- if include "training-job.launchFiles" . | fromYaml -}}
{{- $_ := set $paths "/etc/trainyard" "launcher" -}}
{{- end -}}
{{- if include "training-job.usesScratch" . -}}
{{- include "training-job.checkMount" (dict "name" "deepspeed.scratch" "path" .Values.deepspeed.scratch.mountPath
    "paths" $paths) -}}
{{- end -}}
{{- if .Values.scratch.enabled -}}
{{- include "training-job.checkMount" (dict "name" "scratch" "path" .Values.scratch.mountPath "paths" $paths) -}}
{{- end -}}
{{- $folders := include "common.fabric.mounts" . | fromYaml -}}
{{- range $folders.mounts -}}
{{- include "training-job.checkMount" (dict "name" (printf "fabric.mounts.%s" .name) "path" .mountPath
    "paths" $paths) -}}
{{- end -}}
{{- range $folders.volumes -}}
{{- $volume := printf "fabric-%s" .name -}}
{{- if has $volume $names -}}
{{- fail (printf "fabric.mounts: two folders are called %s; give each a name of its own" .name) -}}
{{- end -}}
{{- $names = append $names $volume -}}
{{- end -}}
{{- if regexMatch "(^/|(^|/)[.][.](/|$))" .Values.checkpoints.subPath -}}
{{- fail (printf "checkpoints.subPath is %s: name a folder inside the volume, e.g. runs/42" .Values.checkpoints.subPath) -}}
{{- end -}}
{{- with .Values.flightRecorder -}}
{{- if .enabled -}}
{{- include "training-job.checkMount" (dict "name" "flightRecorder" "path" .mountPath "paths" $paths) -}}
{{- end -}}
{{- end -}}
{{- range $name, $volume := .Values.volumes -}}
{{- $key := printf "volumes.%s" $name -}}
{{- if has $name $names -}}
{{- fail (printf "%s: the chart has a volume of this name: choose another than %s" $key (join ", " $names)) -}}
{{- end -}}
{{- $given := list -}}
{{- range $source := $sources -}}
{{- if hasKey $volume $source -}}
{{- $given = append $given $source -}}
{{- end -}}
{{- end -}}
{{- if ne (len $given) 1 -}}
{{- $found := join " and " $given | default "none" -}}
{{- fail (printf "%s has %s: a volume has exactly one of %s" $key $found (join ", " $sources)) -}}
{{- end -}}
{{- include "training-job.checkMount" (dict "name" $key "path" $volume.mountPath "paths" $paths) -}}
{{- if regexMatch "(^/|(^|/)[.][.](/|$))" ($volume.subPath | default "") -}}
{{- fail (printf "%s.subPath is %s: name a folder inside the volume, e.g. images/train" $key $volume.subPath) -}}
{{- end -}}
{{- with $volume.create -}}
{{- include "training-job.checkShared" (dict "name" (printf "%s.create" $key) "nodes" (include "training-job.mostNodes" $)
    "accessModes" (.accessModes | default (list "ReadWriteMany")) "readOnly" $volume.readOnly) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.checkpoints.enabled (not .Values.checkpoints.existingClaim) -}}
{{- include "training-job.checkShared" (dict "name" "checkpoints" "nodes" (include "training-job.mostNodes" .)
    "accessModes" .Values.checkpoints.accessModes "readOnly" false) -}}
{{- end -}}
{{- if and .Values.scratch.enabled .Values.scratch.medium (eq .Values.scratch.source "ephemeral") -}}
{{- fail "scratch.medium is for scratch.source emptyDir: remove it, or set source to emptyDir" -}}
{{- end -}}
{{- if and .Values.scratch.enabled .Values.scratch.storageClassName (eq .Values.scratch.source "emptyDir") -}}
{{- fail "scratch.storageClassName is for scratch.source ephemeral: remove it, or set source to ephemeral" -}}
{{- end -}}
{{- end -}}

{{/*
training-job.checkMount: fails for a path that another volume has, or that lies where the chart mounts memory or the
pod's temporary files. Notes the path in `paths`. Takes (dict "name" <dotted key> "path" <path> "paths" <dict path:
dotted key>).
*/}}
{{- define "training-job.checkMount" -}}
{{- if regexMatch "/[.][.]?(/|$)" .path -}}
{{- fail (printf "%s.mountPath is %s: write it without . and .." .name .path) -}}
{{- end -}}
{{- $place := trimSuffix "/" .path -}}
{{- if hasKey .paths $place -}}
{{- fail (printf "%s.mountPath is %s, where %s is mounted: choose another path" .name .path (get .paths $place)) -}}
{{- end -}}
{{- range $path := list "/tmp" "/dev/shm" -}}
{{- if and (hasKey $.paths $path) (hasPrefix (printf "%s/" $path) $.path) -}}
{{- fail (printf "%s.mountPath is %s, which is below %s: choose a path outside of it" $.name $.path (get $.paths $path)) -}}
{{- end -}}
{{- end -}}
{{- $_ := set .paths $place .name -}}
{{- end -}}

{{/*
training-job.checkShared: fails for a claim of the chart that pods on several nodes could not mount: all but one would
wait for it forever. Takes (dict "name" <dotted key> "nodes" <number> "accessModes" <list> "readOnly" <bool>).
*/}}
{{- define "training-job.checkShared" -}}
{{- if and (has "ReadWriteOncePod" .accessModes) (gt (len .accessModes) 1) -}}
{{- fail (printf "%s.accessModes: ReadWriteOncePod cannot be combined with other modes; remove it, or the others" .name) -}}
{{- end -}}
{{- $readable := and .readOnly (has "ReadOnlyMany" .accessModes) -}}
{{- if and (gt (int .nodes) 1) (not (has "ReadWriteMany" .accessModes)) (not $readable) -}}
{{- $modes := ternary "ReadWriteMany or ReadOnlyMany" "ReadWriteMany" (.readOnly | default false) -}}
{{- fail (printf "%s.accessModes is [%s], but %d nodes mount the claim: add %s, or set nodes to 1"
    .name (join ", " .accessModes) (int .nodes) $modes) -}}
{{- end -}}
{{- end -}}

{{/* training-job.extraVolumes: `scratch` and `volumes` as a pod's volumes. Takes the root context. */}}
{{- define "training-job.extraVolumes" -}}
{{- $scratch := .Values.scratch -}}
{{- if $scratch.enabled }}
- name: scratch
  {{- if eq $scratch.source "ephemeral" }}
  {{- include "training-job.ephemeral" $scratch | nindent 2 }}
  {{- else }}
  emptyDir:
    {{- $limits := dict }}
    {{- range $field, $value := dict "medium" $scratch.medium "sizeLimit" $scratch.size }}
    {{- if $value }}
    {{- $_ := set $limits $field $value }}
    {{- end }}
    {{- end }}
    {{- toYaml $limits | nindent 4 }}
  {{- end }}
{{- end }}
{{- range $name, $volume := .Values.volumes }}
- name: {{ $name | quote }}
  {{- if $volume.claim }}
  persistentVolumeClaim:
    claimName: {{ $volume.claim | quote }}
  {{- else if $volume.create }}
  persistentVolumeClaim:
    claimName: {{ printf "%s-%s" (include "training-job.name" $) $name | quote }}
  {{- else if $volume.ephemeral }}
  {{- include "training-job.ephemeral" $volume.ephemeral | nindent 2 }}
  {{- else if hasKey $volume "emptyDir" }}
  emptyDir:
    {{- toYaml $volume.emptyDir | nindent 4 }}
  {{- else if $volume.hostPath }}
  hostPath:
    {{- toYaml $volume.hostPath | nindent 4 }}
  {{- else if $volume.nfs }}
  nfs:
    {{- toYaml $volume.nfs | nindent 4 }}
  {{- else }}
  {{- $source := $volume.configMap | default $volume.secret }}
  {{ ternary "configMap" "secret" (hasKey $volume "configMap") }}:
    {{ ternary "name" "secretName" (hasKey $volume "configMap") }}: {{ $source.name | quote }}
    {{- if hasKey $source "optional" }}
    optional: {{ $source.optional }}
    {{- end }}
    {{- if hasKey $source "defaultMode" }}
    defaultMode: {{ $source.defaultMode | int64 }}
    {{- end }}
    {{- with $source.items }}
    items:
      {{- range $entry, $path := . }}
      - key: {{ $entry | quote }}
        path: {{ $path | quote }}
      {{- end }}
    {{- end }}
  {{- end }}
{{- end }}
{{- end -}}

{{/*
training-job.ephemeral: a claim that is made with each pod and deleted with it. Takes `size` and, optionally,
`storageClassName` and `accessModes`.
*/}}
{{- define "training-job.ephemeral" -}}
ephemeral:
  volumeClaimTemplate:
    spec:
      {{- include "training-job.claimSpec" (dict "claim" . "accessModes" (list "ReadWriteOnce")) | nindent 6 }}
{{- end -}}

{{/*
training-job.claimSpec: the spec of a claim. Takes (dict "claim" <values with `size`, `storageClassName` and
`accessModes`> "accessModes" <what they are when the values have none>).
*/}}
{{- define "training-job.claimSpec" -}}
{{- with .claim.storageClassName -}}
storageClassName: {{ . | quote }}
{{ end -}}
accessModes:
  {{- .claim.accessModes | default .accessModes | toYaml | nindent 2 }}
resources:
  requests:
    storage: {{ .claim.size | default "10Gi" | quote }}
{{- end -}}

{{/*
training-job.persistentVolumeClaim: a claim that the chart makes. Takes (dict "root" <root context> "name" <name>
"claim" <values>); it outlives the release unless `keep` is false.
*/}}
{{- define "training-job.persistentVolumeClaim" -}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ .name }}
  namespace: {{ .root.Release.Namespace | quote }}
  labels:
    {{- include "common.labels" .root | nindent 4 }}
  {{- if or .claim.keep (not (hasKey .claim "keep")) }}
  annotations:
    helm.sh/resource-policy: keep
  {{- end }}
spec:
  {{- include "training-job.claimSpec" (dict "claim" .claim "accessModes" (list "ReadWriteMany")) | nindent 2 }}
{{- end -}}

{{/* training-job.extraMounts: where the container finds `scratch` and `volumes`. Takes the root context. */}}
{{- define "training-job.extraMounts" -}}
{{- if .Values.scratch.enabled }}
- name: scratch
  mountPath: {{ .Values.scratch.mountPath | quote }}
{{- end }}
{{- range $name, $volume := .Values.volumes }}
{{ include "training-job.mount" (dict "name" $name "volume" $volume "readOnly" $volume.readOnly) }}
{{- end }}
{{- end -}}

{{/*
training-job.mount: one mount, as an entry of a list. Takes (dict "name" <volume's name> "volume" <values with
`mountPath` and `subPath`> "readOnly" <bool>).
*/}}
{{- define "training-job.mount" -}}
- name: {{ .name | quote }}
  mountPath: {{ .volume.mountPath | quote }}
  {{- with .volume.subPath }}
  subPath: {{ . | quote }}
  {{- end }}
  {{- if .readOnly }}
  readOnly: true
  {{- end }}
{{- end -}}
