{{/*
Upgrades of an active run. The operator uses a changed pod template only for pods that it creates later: new values would
have no effect, or only in a pod that restarts. A TrainJob accepts no other values at all: Trainer writes them into its JobSet only while that is suspended, and JobSet
then refuses all but a few fields, the suspension of the run with them (trainer v2.3.0, plugins/jobset/jobset.go: Build;
jobset v0.12.0, pkg/webhooks/jobset_webhook.go: ValidateUpdate).
*/}}

{{/*
training-job.records: annotations of the job. `trainyard/pods` holds a digest of each field that running pods cannot
change, as it is rendered and not as the API server completes it. Fails when the job of an upgrade runs and was recorded
with others; a job without a record, of chart 0.1.0, keeps its pods. Nothing is looked up where no cluster answers, as
in `helm template`.

Takes (dict "root" <root context> "apiVersion" <of the job> "kind" <of the job> "pods" <map role: pod template> "rest"
<map of what else the operator looks at only when it makes a pod>).
*/}}
{{- define "training-job.records" -}}
{{- $marks := include "training-job.marks" . | fromYaml -}}
{{- if and .root.Release.IsUpgrade (not .root.Values.upgrade.force) -}}
{{- include "training-job.refuseOtherKind" .root -}}
{{- $live := include "training-job.liveMetadata" . | fromYaml -}}
{{- with get ($live.annotations | default dict) "trainyard/pods" -}}
{{- $queued := hasKey ($live.labels | default dict) "kueue.x-k8s.io/queue-name" -}}
{{- include "training-job.compare" (dict "old" (fromYaml .) "new" $marks "queued" $queued "kind" $.kind) -}}
{{- end -}}
{{- end -}}
trainyard/pods: {{ toRawJson $marks | toRawJson }}
{{- if .root.Values.upgrade.force }}
trainyard/forced: "true"
{{- end }}
{{- end -}}

{{/*
training-job.marks: `<field>: <digest>` of the fields of pods and containers, as YAML. An empty field has none. Takes
the dict of training-job.records.
*/}}
{{- define "training-job.marks" -}}
{{- $fields := deepCopy .rest -}}
{{- range $role, $pod := .pods -}}
{{- range $field, $value := merge (omit $pod.spec "initContainers" "containers") $pod.metadata -}}
{{- $_ := set $fields (printf "%s.%s" $role $field) $value -}}
{{- end -}}
{{- range $container := concat ($pod.spec.initContainers | default list) $pod.spec.containers -}}
{{- range $field, $value := $container -}}
{{- $_ := set $fields (printf "%s.%s.%s" $role $container.name $field) $value -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $field, $value := $fields }}
{{- if $value }}
{{ toRawJson $field }}: {{ toRawJson $value | sha256sum | trunc 8 | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/*
training-job.liveMetadata: the metadata of the job in the cluster, as YAML; nothing when there is no job, when it has
ended or is suspended, or when the new values suspend it: then no pod is left that has other values. A TrainJob keeps
them while it is suspended, too. Takes the dict of training-job.records.
*/}}
{{- define "training-job.liveMetadata" -}}
{{- $root := .root -}}
{{- if $root.Capabilities.APIVersions.Has (printf "%s/%s" .apiVersion .kind) -}}
{{- $job := lookup .apiVersion .kind $root.Release.Namespace (include "training-job.name" $root) -}}
{{- $suspended := or $root.Values.runPolicy.suspend ((($job.spec | default dict).runPolicy | default dict).suspend) -}}
{{- $held := and $suspended (ne .kind "TrainJob") -}}
{{- range ($job.status | default dict).conditions -}}
{{- if and (has .type (list "Succeeded" "Complete" "Failed")) (eq .status "True") -}}
{{- $held = true -}}
{{- end -}}
{{- end -}}
{{- if and $job (not $held) -}}
{{- pick $job.metadata "annotations" "labels" | toYaml -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-job.refuseOtherKind: fails when the release goes on as a job of another kind: Helm makes the new job before it
deletes the old one. Takes the root context.
*/}}
{{- define "training-job.refuseOtherKind" -}}
{{- range $kind, $version := omit (include "training-job.apiVersions" . | fromYaml) .Values.kind -}}
{{- $live := include "training-job.liveMetadata" (dict "root" $ "kind" $kind "apiVersion" $version) | fromYaml -}}
{{- if eq (get ($live.annotations | default dict) "meta.helm.sh/release-name") $.Release.Name -}}
{{- $advice := "uninstall it and install it again: it resumes from its last checkpoint" -}}
{{- fail (printf "kind: the run is active as a %s, and both jobs would write its checkpoints; %s" $kind $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-job.compare: fails with the fields that differ. Takes (dict "old" <marks of the job> "new" <marks> "queued"
<true if Kueue runs the job> "kind" <of the job>).
*/}}
{{- define "training-job.compare" -}}
{{- $old := .old -}}
{{- $new := .new -}}
{{- $changed := list -}}
{{- range $field := concat (keys $old) (keys $new) | uniq | sortAlpha -}}
{{- if ne (get $old $field) (get $new $field) -}}
{{- $changed = append $changed (include "training-job.fieldOfValue" $field) -}}
{{- end -}}
{{- end -}}
{{- if $changed -}}
{{- $hold := "Upgrade with --set runPolicy.suspend=true, which deletes its pods, and again with false" -}}
{{- if .queued -}}
{{- $hold = "Suspend it with `active: false` in its Workload, which deletes its pods, and then upgrade" -}}
{{- end -}}
{{- $way := printf "%s, or uninstall it and install it again: it resumes from its last checkpoint." $hold -}}
{{- $force := "With upgrade.force=true running pods keep the old values, and restarted pods get the new ones." -}}
{{- $advice := printf "%s %s" $way $force -}}
{{- if eq .kind "TrainJob" -}}
{{- $advice = "Uninstall it and install it again: it resumes from its last checkpoint." -}}
{{- end -}}
{{- fail (printf "the run is active, and its pods cannot change: %s. %s" (join ", " $changed) $advice) -}}
{{- end -}}
{{- end -}}

{{/*
training-job.fieldOfValue: a field of the records with the value that sets it, `nodes (replicas)`; the field alone if it
depends on several values. Takes the field.
*/}}
{{- define "training-job.fieldOfValue" -}}
{{- $values := dict "replicas" "nodes" "nprocPerNode" "processesPerNode" "elasticPolicy" "elastic"
    "files" "train.config, accelerate or deepspeed" "queue" "scheduling.queue" "managedBy" "runPolicy.managedBy"
    "policy" "runPolicy or scheduling.gang" -}}
{{- $ofPod := dict "image" "image" "imagePullPolicy" "image" "imagePullSecrets" "image" "labels" "podLabels"
    "annotations" "podAnnotations" "nodeSelector" "placement" "tolerations" "placement" "affinity" "placement"
    "topologySpreadConstraints" "placement" "resources" "resources" "env" "env" "args" "train" "command" "train" -}}
{{- $parts := splitList "." . -}}
{{- $value := get $values . -}}
{{- if and (gt (len $parts) 1) (not (has "dataset" $parts)) -}}
{{- $value = get $ofPod (last $parts) -}}
{{- end -}}
{{- if and $value (ne $value .) -}}
{{- printf "%s (%s)" $value . -}}
{{- else -}}
{{- . -}}
{{- end -}}
{{- end -}}
