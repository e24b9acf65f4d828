{{/*
The init container that fetches data onto a volume. The program is charts/training-job/files/dataset; its plan and its
files are in a ConfigMap, so that it runs in any image with python3.
*/}}

{{/* training-job.datasetPrograms: the files of the program, with spaces between them. */}}
{{- define "training-job.datasetPrograms" -}}
clients.py fetch.py leases.py report.py sources.py transfer.py web.py
{{- end -}}

{{/*
training-job.datasetVolume: the destination volume of the data, as (dict "name" "volume"), where the volume has
`mountPath`. Takes the root context.
*/}}
{{- define "training-job.datasetVolume" -}}
{{- $name := .Values.dataset.volume -}}
{{- if and (eq $name "scratch") .Values.scratch.enabled -}}
{{- toYaml (dict "name" $name "volume" (pick .Values.scratch "mountPath")) -}}
{{- else -}}
{{- toYaml (dict "name" $name "volume" (get (.Values.volumes | default dict) $name)) -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkDataset: fails for a data set that could not be fetched. Takes the root context. */}}
{{- define "training-job.checkDataset" -}}
{{- $dataset := .Values.dataset -}}
{{- with $dataset.source -}}
{{- $required := dict "http" (list "urls") "git" (list "url" "ref") "s3" (list "url") "gs" (list "url")
    "huggingFace" (list "repository" "revision" "endpoint") "claim" (list "name") -}}
{{- $secrets := dict "http" (list "token") "git" (list "token") "s3" (list "accessKey" "secretKey")
    "gs" (list "serviceAccount") "huggingFace" (list "token") "claim" list -}}
{{- $source := get $dataset . -}}
{{- range $key := get $required . -}}
{{- if not (get $source $key) -}}
{{- fail (printf "dataset.%s.%s is empty, and dataset.source is %s: give it a value" $dataset.source $key $dataset.source) -}}
{{- end -}}
{{- end -}}
{{- range $key := get $secrets . -}}
{{- if eq (len (get $source $key)) 1 -}}
{{- fail (printf "dataset.%s.%s needs both secret and key: add the missing one" $dataset.source $key) -}}
{{- end -}}
{{- end -}}
{{- range $address := concat ($source.urls | default list) (list ($source.url | default "") ($source.endpoint | default "")) -}}
{{- if and $source.token (hasPrefix "http://" $address) -}}
{{- fail (printf "dataset.%s.token would be sent to %s in plain text: use https" $dataset.source $address) -}}
{{- end -}}
{{- end -}}
{{- if eq . "s3" -}}
{{- if ne (len (get $source "accessKey")) (len (get $source "secretKey")) -}}
{{- fail "dataset.s3.accessKey and secretKey belong together: set both, or neither" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if $dataset.source -}}
{{- include "training-job.checkDatasetVolume" . -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkDatasetVolume: fails for a volume that cannot be written. Takes the root context. */}}
{{- define "training-job.checkDatasetVolume" -}}
{{- $dataset := .Values.dataset -}}
{{- $volume := (include "training-job.datasetVolume" . | fromYaml).volume -}}
{{- if not $volume -}}
{{- fail (printf "dataset.volume is %q: name one of volumes, or scratch with scratch.enabled" $dataset.volume) -}}
{{- end -}}
{{- if or $volume.configMap $volume.secret -}}
{{- fail (printf "dataset.volume is %s, and no pod may write to a ConfigMap or a Secret" $dataset.volume) -}}
{{- end -}}
{{- if and $volume.create (eq (join "," $volume.create.accessModes) "ReadOnlyMany") -}}
{{- fail (printf "dataset.volume is %s, which no pod can write: add ReadWriteMany to volumes.%s.create.accessModes" $dataset.volume $dataset.volume) -}}
{{- end -}}
{{- if regexMatch "(^|/)[.][.]?(/|$)" $dataset.path -}}
{{- fail (printf "dataset.path is %s: write it without . and .." $dataset.path) -}}
{{- end -}}
{{- end -}}

{{/*
training-job.datasetPlan: the plan of the program, as JSON; empty without a data set. It contains no secrets, because it is
in a ConfigMap and in the marker beside the data. Takes the root context.
*/}}
{{- define "training-job.datasetPlan" -}}
{{- $dataset := .Values.dataset -}}
{{- if $dataset.source -}}
{{- $volume := (include "training-job.datasetVolume" . | fromYaml).volume -}}
{{- $source := omit (get $dataset $dataset.source) "token" "accessKey" "secretKey" "serviceAccount" -}}
{{- $source = merge (dict "kind" $dataset.source) $source -}}
{{- if eq $dataset.source "claim" -}}
{{- $source = merge (dict "mountPath" "/dataset-source") $source -}}
{{- end -}}
{{- $folder := printf "%s/%s" $volume.mountPath $dataset.path -}}
{{- $checksum := dict "files" ($dataset.checksum.files | default dict) "manifest" $dataset.checksum.manifest -}}
{{- dict "folder" $folder "source" $source "checksum" $checksum | toRawJson -}}
{{- end -}}
{{- end -}}

{{/*
training-job.datasetContainer: the init container, as a list of one; empty without a data set. It runs as the run does,
with the run's plain environment (proxies, certificates) and the data set's own secrets. A volume that training only
reads is writable here. Takes the root context.
*/}}
{{- define "training-job.datasetContainer" -}}
{{- $dataset := .Values.dataset -}}
{{- if $dataset.source -}}
{{- $target := include "training-job.datasetVolume" . | fromYaml -}}
{{- $secrets := dict -}}
{{- range $key, $name := dict "token" "DATASET_TOKEN" "accessKey" "DATASET_ACCESS_KEY" "secretKey" "DATASET_SECRET_KEY"
    "serviceAccount" "DATASET_SERVICE_ACCOUNT" -}}
{{- with get (get $dataset $dataset.source) $key -}}
{{- $_ := set $secrets $name . -}}
{{- end -}}
{{- end -}}
- name: dataset
  image: {{ $dataset.image | default (include "common.image" (dict "image" .Values.image "root" .)) | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy | quote }}
  terminationMessagePolicy: FallbackToLogsOnError
  command: [python3, /etc/dataset/fetch.py, /etc/dataset/plan.json]
  env:
    {{- with include "common.env" (dict "env" .Values.env "secrets" $secrets) | trim }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- range $name, $field := dict "DATASET_POD_NAME" "metadata.name" "DATASET_POD_UID" "metadata.uid" }}
    - name: {{ $name }}
      valueFrom:
        fieldRef:
          fieldPath: {{ $field }}
    {{- end }}
  {{- $limits := $dataset.resources.limits | default dict }}
  resources:
    limits:
      {{- include "common.quantities" $limits | nindent 6 }}
    requests:
      {{- $requests := merge (deepCopy ($dataset.resources.requests | default dict)) $limits }}
      {{- include "common.quantities" $requests | nindent 6 }}
  {{- with .Values.securityContext }}
  securityContext:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  volumeMounts:
    {{- include "training-job.mount" (merge (dict "readOnly" false) $target) | nindent 4 }}
    {{- if eq $dataset.source "claim" }}
    - name: dataset-source
      mountPath: /dataset-source
      readOnly: true
    {{- end }}
    - name: dataset
      mountPath: /etc/dataset
      readOnly: true
    - name: tmp
      mountPath: /tmp
{{- end -}}
{{- end -}}

{{/* training-job.datasetVolumes: the program, and the claim that is copied. Takes the root context. */}}
{{- define "training-job.datasetVolumes" -}}
{{- if .Values.dataset.source }}
- name: dataset
  configMap:
    name: {{ include "training-job.name" . }}-dataset
{{- if eq .Values.dataset.source "claim" }}
- name: dataset-source
  persistentVolumeClaim:
    claimName: {{ .Values.dataset.claim.name | quote }}
    readOnly: true
{{- end }}
{{- end }}
{{- end -}}
