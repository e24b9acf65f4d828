{{/*
Volumes of the pods. Every helper takes what `training-runtimes.job` takes, unless it says otherwise.
*/}}

{{/* training-runtimes.volumes: the volumes as a YAML list. Without a file system of its own an image is read only. */}}
{{- define "training-runtimes.volumes" -}}
{{- $pod := . -}}
{{- with .root -}}
{{- if .Values.sharedMemory.enabled }}
- name: shared-memory
  emptyDir:
    medium: Memory
    sizeLimit: {{ include "common.sharedMemorySize" . | quote }}
{{- end }}
- name: tmp
  emptyDir: {}
- name: workspace
  emptyDir: {{ ternary (dict "sizeLimit" .Values.workspace.size) dict (not (empty .Values.workspace.size)) | toJson }}
{{- if eq $pod.runtime.policy "mpi" }}
- name: home
  emptyDir: {}
{{- end }}
{{- range $name, $volume := .Values.volumes }}
- name: {{ $name | quote }}
  {{- if $volume.claim }}
  persistentVolumeClaim:
    claimName: {{ $volume.claim | quote }}
  {{- else }}
  {{- range $source := list "emptyDir" "hostPath" "nfs" }}
  {{- if hasKey $volume $source }}
  {{ $source }}: {{ get $volume $source | toJson }}
  {{- end }}
  {{- end }}
  {{- end }}
{{- end }}
{{- if and .Values.flightRecorder.enabled (eq $pod.runtime.policy "torch") }}
- name: flight-recorder
  {{- if .Values.flightRecorder.existingClaim }}
  persistentVolumeClaim:
    claimName: {{ .Values.flightRecorder.existingClaim | quote }}
  {{- else }}
  emptyDir:
    sizeLimit: {{ .Values.flightRecorder.size | quote }}
  {{- end }}
{{- end }}
{{- include "common.fabric.volumes" . }}
{{- end -}}
{{- end -}}

{{/* training-runtimes.mounts: the volumes in the container, as a YAML list. */}}
{{- define "training-runtimes.mounts" -}}
{{- $pod := . -}}
{{- with .root -}}
{{- if .Values.sharedMemory.enabled }}
- name: shared-memory
  mountPath: /dev/shm
{{- end }}
- name: tmp
  mountPath: /tmp
- name: workspace
  mountPath: /workspace
{{- if eq $pod.runtime.policy "mpi" }}
- name: home
  mountPath: /home/mpiuser
{{- end }}
{{- range $name, $volume := .Values.volumes }}
- name: {{ $name | quote }}
  {{- pick $volume "mountPath" "subPath" "readOnly" | toYaml | nindent 2 }}
{{- end }}
{{- if and .Values.flightRecorder.enabled (eq $pod.runtime.policy "torch") }}
- name: flight-recorder
  mountPath: {{ .Values.flightRecorder.mountPath | quote }}
{{- end }}
{{- include "common.fabric.volumeMounts" . }}
{{- end -}}
{{- end -}}

{{/*
training-runtimes.checkVolumes: fails for volumes that Kubernetes would refuse when a TrainJob creates its pods. Takes the
root context.
*/}}
{{- define "training-runtimes.checkVolumes" -}}
{{- $sources := list "claim" "emptyDir" "hostPath" "nfs" -}}
{{- $names := list "shared-memory" "tmp" "workspace" "home" "flight-recorder" "mpi-ssh-auth" "mpi-hostfile"
    "kubeflow-trainer-token" -}}
{{- $paths := dict "/tmp" "the chart" "/workspace" "the chart" "/dev/shm" "sharedMemory" "/home/mpiuser" "the policy mpi" -}}
{{- $others := dict -}}
{{- if .Values.flightRecorder.enabled -}}
{{- $_ := set $others "flightRecorder" .Values.flightRecorder.mountPath -}}
{{- end -}}
{{- range (include "common.fabric.mounts" . | fromYaml).mounts -}}
{{- $_ := set $others (printf "fabric.mounts.%s" .name) .mountPath -}}
{{- end -}}
{{- range $key, $path := $others -}}
{{- with get $paths (trimSuffix "/" $path) -}}
{{- fail (printf "%s.mountPath is %s, where %s mounts a volume: choose another path" $key $path .) -}}
{{- end -}}
{{- $_ := set $paths (trimSuffix "/" $path) $key -}}
{{- end -}}
{{- range $name, $volume := .Values.volumes -}}
{{- $key := printf "volumes.%s" $name -}}
{{- if or (has $name $names) (hasPrefix "fabric-" $name) -}}
{{- fail (printf "%s: the chart or Trainer has a volume of this name; choose another" $key) -}}
{{- end -}}
{{- $given := list -}}
{{- range $source := $sources -}}
{{- if hasKey $volume $source -}}{{- $given = append $given $source -}}{{- end -}}
{{- end -}}
{{- if ne (len $given) 1 -}}
{{- $found := join " and " $given | default "none" -}}
{{- fail (printf "%s has %s: a volume has exactly one of %s" $key $found (join ", " $sources)) -}}
{{- end -}}
{{- with get $paths $volume.mountPath -}}
{{- fail (printf "%s.mountPath is %s, where %s mounts a volume: choose another path" $key $volume.mountPath .) -}}
{{- end -}}
{{- $_ := set $paths $volume.mountPath $key -}}
{{- end -}}
{{- end -}}
