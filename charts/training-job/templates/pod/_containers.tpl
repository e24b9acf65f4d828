{{/*
Containers of the values, beside those of the chart.
*/}}

{{/*
training-job.userContainers: `initContainers` or `sidecars` as a pod has them, as a YAML list. A container gets the
image and the security context of the run unless it has its own, so that it passes the same Pod Security level. Takes
(dict "root" <root context> "containers" <list> "restartPolicy" <that of a sidecar, optional>).
*/}}
{{- define "training-job.userContainers" -}}
{{- $defaults := dict "image" (include "common.image" (dict "image" .root.Values.image "root" .root))
    "imagePullPolicy" .root.Values.image.pullPolicy "terminationMessagePolicy" "FallbackToLogsOnError" -}}
{{- with .root.Values.securityContext -}}
{{- $_ := set $defaults "securityContext" . -}}
{{- end -}}
{{- with .restartPolicy -}}
{{- $_ := set $defaults "restartPolicy" . -}}
{{- end -}}
{{- range .containers }}
{{- $container := deepCopy . -}}
{{- range $field, $value := $defaults -}}
{{- if not (hasKey $container $field) -}}
{{- $_ := set $container $field $value -}}
{{- end -}}
{{- end }}
- {{ toYaml $container | nindent 2 | trim }}
{{- end }}
{{- end -}}

{{/*
training-job.checkUserContainers: fails for a name that another container of the pod has: the operator could then create
no pod. Takes the root context.
*/}}
{{- define "training-job.checkUserContainers" -}}
{{- $names := dict (include "training-job.kind" . | fromYaml).container "the program" "dataset" "dataset" "tensorboard"
    "tensorboard" "tcpxo-daemon" "fabric.profile gke-tcpxo" -}}
{{- range $key := list "initContainers" "sidecars" -}}
{{- range $index, $container := get $.Values $key -}}
{{- $at := printf "%s[%d]" $key $index -}}
{{- if hasKey $names $container.name -}}
{{- fail (printf "%s.name is %s, the name of the container of %s: choose another" $at $container.name (get $names $container.name)) -}}
{{- end -}}
{{- $_ := set $names $container.name $at -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-job.checkContainers: fails for a container that `podTemplate` adds by mistake, because it names the program's
container wrongly, and for mounts of volumes that the pod lacks. Takes (dict "pod" <pod template> "root" <root
context>).
*/}}
{{- define "training-job.checkContainers" -}}
{{- $program := (include "training-job.kind" .root | fromYaml).container -}}
{{- $volumes := list -}}
{{- range .pod.spec.volumes -}}
{{- $volumes = append $volumes .name -}}
{{- end -}}
{{- range concat (.pod.spec.initContainers | default list) .pod.spec.containers -}}
{{- $name := .name -}}
{{- if not .image -}}
{{- $advice := printf "give it an image, or write %s, the container of the program" $program -}}
{{- fail (printf "podTemplate.spec: container %s has no image: %s" $name $advice) -}}
{{- end -}}
{{- range .volumeMounts -}}
{{- if not (has .name $volumes) -}}
{{- fail (printf "podTemplate.spec: container %s mounts %s, and the pod has no such volume: choose from %s" $name .name (join ", " $volumes)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
