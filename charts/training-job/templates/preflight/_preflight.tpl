{{/*
training-job.preflightName: the name of the Job of `helm test`, of its Service and of its program. Its pods' host names
are made of it: <name>-<index> must fit in 63 characters. Takes the root context.
*/}}
{{- define "training-job.preflightName" -}}
{{- $name := include "training-job.name" . | printf "%s-preflight" -}}
{{- $excess := sub (printf "%s-%d" $name (sub .Values.nodes 1) | len) 63 -}}
{{- if gt $excess 0 -}}
{{- $reason := "the names of the pods of preflight would exceed 63 characters" -}}
{{- fail (printf "release name %q is too long by %d: %s" .Release.Name $excess $reason) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{/* training-job.checkPreflight: fails for a kind whose image need not hold the program that the test runs. */}}
{{- define "training-job.checkPreflight" -}}
{{- if and .Values.preflight.enabled (not (include "training-job.isPyTorch" .)) -}}
{{- $advice := "remove it, or write kind PyTorchJob" -}}
{{- fail (printf "preflight: the test needs PyTorch, which the image of a %s may lack; %s" .Values.kind $advice) -}}
{{- end -}}
{{- end -}}

{{/* training-job.preflightLabels: labels of the pods of `helm test`; `training-job.releasePods` selects them as well. */}}
{{- define "training-job.preflightLabels" -}}
{{ include "common.selectorLabels" . }}
app.kubernetes.io/component: preflight
{{ (include "training-job.podLabels" . | fromYaml).job }}: {{ include "training-job.preflightName" . | quote }}
{{- end -}}

{{/*
training-job.preflightPod: the run's own pod with another program in it, so that image, devices, networks, variables and
placement are those of the run. Rules that place the pods with regard to each other select by the run's name: here they
get the name of the test, or the pods would keep away from the run's in place of each other. For Kueue they are one set
of pods, and not two in a group as Master and Workers are. Takes the root context.
*/}}
{{- define "training-job.preflightPod" -}}
{{- $name := include "training-job.preflightName" . -}}
{{- $label := (include "training-job.podLabels" . | fromYaml).job -}}
{{- $ofRun := printf "%q:%q" $label (include "training-job.name" .) -}}
{{- $ofTest := printf "%q:%q" $label $name -}}
{{- $pods := include "training-job.pods" . | fromYaml | toJson | replace $ofRun $ofTest | fromYaml -}}
{{- $pod := $pods.pod -}}
{{- $labels := include "training-job.preflightLabels" . | fromYaml -}}
{{- $_ := set $pod.metadata "labels" (merge $labels $pod.metadata.labels) -}}
{{- $annotations := omit ($pod.metadata.annotations | default dict) "kueue.x-k8s.io/podset-group-name" -}}
{{- $_ := set $pod.metadata "annotations" $annotations -}}
{{- $container := first $pod.spec.containers -}}
{{- range $field, $words := include "training-job.preflightCommand" . | fromYaml -}}
{{- $_ := set $container $field $words -}}
{{- end -}}
{{- /* torchrun would wait for the nodes of the run, and finds out by itself who the processes of its own are. */}}
{{- $peers := list -}}
{{- range (include "training-job.peers" . | printf "env:\n%s" | fromYaml).env -}}{{- $peers = append $peers .name -}}{{- end -}}
{{- $env := list -}}
{{- range $container.env -}}{{- if not (has .name $peers) -}}{{- $env = append $env . -}}{{- end -}}{{- end -}}
{{- $_ := set $container "env" (append $env (include "common.preflight.nodeName" . | fromYaml)) -}}
{{- $mount := dict "name" "preflight" "mountPath" "/preflight" "readOnly" true -}}
{{- $_ := set $container "volumeMounts" (append $container.volumeMounts $mount) -}}
{{- $volume := dict "name" "preflight" "configMap" (dict "name" $name) -}}
{{- $_ := set $pod.spec "volumes" (append $pod.spec.volumes $volume) -}}
{{- $_ := set $pod.spec "restartPolicy" "Never" -}}
{{- $_ := set $pod.spec "subdomain" $name -}}
{{- $others := list -}}
{{- range $pod.spec.initContainers -}}
{{- if not (has .name (list "dataset" "tensorboard")) -}}
{{- $others = append $others . -}}
{{- end -}}
{{- end -}}
{{- $_ := set $pod.spec "initContainers" $others -}}
{{- toYaml $pod -}}
{{- end -}}

{{/*
training-job.preflightCommand: {command, args} of the test. The nodes wait for each other half of its time, so that they
can say who is missing before it is over. Takes the root context.
*/}}
{{- define "training-job.preflightCommand" -}}
{{- $preflight := .Values.preflight -}}
{{- include "common.preflight.command" (dict "root" . "name" (include "training-job.preflightName" .)
    "nodes" .Values.nodes "options" (dict
      "last-size" (mul $preflight.maxMebibytes 1048576)
      "min-bus-bandwidth" (toJson $preflight.minBusBandwidth)
      "start-seconds" (div (add1 $preflight.timeoutSeconds) 2))) -}}
{{- end -}}
