{{/*
Restarts of the processes by torchrun, within a running pod. Read in torch 2.15 (distributed/rendezvous.py,
distributed/elastic/rendezvous) and seen with it: all attempts write the same keys, so in a store that outlives them a
rank finds the address of one that has ended. All helpers take the root context unless stated otherwise.
*/}}

{{/*
training-job.option: the last value of an option in a list of words, `--name=value` or `--name value`, with dashes or
underscores; "true" for one without a value. Takes (dict "words" <list> "name" <the option with dashes>).
*/}}
{{- define "training-job.option" -}}
{{- $name := .name -}}
{{- $found := "" -}}
{{- $isNext := false -}}
{{- range $word := .words -}}
{{- $parts := splitList "=" (toString $word) -}}
{{- if $isNext -}}
{{- $found = toString $word -}}
{{- $isNext = false -}}
{{- else if eq (replace "_" "-" (first $parts)) $name -}}
{{- $isNext = and (eq (len $parts) 1) (ne $name "--standalone") -}}
{{- $found = ternary "true" (rest $parts | join "=") (eq (len $parts) 1) -}}
{{- end -}}
{{- end -}}
{{- $found -}}
{{- end -}}

{{/*
training-job.restarts: the value that asks torchrun for restarts in a run that is not elastic, `torchrun.args` for
example, or "". Accelerate has its own options, and overrides torchrun's variables.
*/}}
{{- define "training-job.restarts" -}}
{{- $usesAccelerate := eq .Values.launcher "accelerate" -}}
{{- $words := ternary .Values.accelerate.args .Values.torchrun.args $usesAccelerate -}}
{{- $option := include "training-job.option" (dict "words" $words "name" "--max-restarts") -}}
{{- if and (include "training-job.isPyTorch" .) (ne .Values.launcher "command") -}}
{{- if $option -}}
{{- if gt (int $option) 0 -}}
{{- ternary "accelerate.args" "torchrun.args" $usesAccelerate -}}
{{- end -}}
{{- else if and (not $usesAccelerate) (gt (get .Values.env "PET_MAX_RESTARTS" | toString | int) 0) -}}
env.PET_MAX_RESTARTS
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-job.isStatic: "true" where torchrun meets at an address that it is told, or "": with a Master, in a TrainJob, and
under Accelerate, unless the values name another rendezvous.
*/}}
{{- define "training-job.isStatic" -}}
{{- $usesAccelerate := eq .Values.launcher "accelerate" -}}
{{- $words := ternary .Values.accelerate.args .Values.torchrun.args $usesAccelerate -}}
{{- $backend := include "training-job.option" (dict "words" $words "name" "--rdzv-backend") -}}
{{- if include "training-job.option" (dict "words" $words "name" "--standalone") -}}
{{- $backend = "c10d" -}}
{{- else if and (not $backend) (not $usesAccelerate) -}}
{{- $derived := ternary "static" "c10d" (or (eq (include "training-job.layout" .) "master-worker") (eq .Values.kind "TrainJob")) -}}
{{- $backend = get .Values.env "PET_RDZV_BACKEND" | default $derived | toString -}}
{{- end -}}
{{- if eq ($backend | default "static") "static" -}}true{{- end -}}
{{- end -}}

{{/*
training-job.isDynamic: "true" where torchrun has a dynamic rendezvous and so starts another round when a pod is
replaced, also without restarts, or "". The others notice three missed heartbeats, and need not fail before.
*/}}
{{- define "training-job.isDynamic" -}}
{{- $startsTorchrun := and (include "training-job.isPyTorch" .) (ne .Values.launcher "command") -}}
{{- if and $startsTorchrun (gt (int .Values.nodes) 1) (not (include "training-job.isStatic" .)) -}}true{{- end -}}
{{- end -}}

{{/*
training-job.storeEnv: gives each attempt a new store, on rank 0. torchrun announces the address of a shared store only in
the first round (next_rendezvous in dynamic_rendezvous.py). A pod that joins later would wait for the address, and the
others for the pod, until the timeout ends all of them.
*/}}
{{- define "training-job.storeEnv" -}}
{{- $name := "TORCH_DISABLE_SHARE_RDZV_TCP_STORE" -}}
{{- $isNeeded := or .Values.elastic.enabled (include "training-job.restarts" .) (include "training-job.isDynamic" .) -}}
{{- if and $isNeeded (not (hasKey .Values.env $name)) (not (hasKey .Values.envSecrets $name)) }}
- name: {{ $name }}
  value: "1"
{{- end }}
{{- end -}}

{{/* training-job.checkRestarts: fails for restarts with the static rendezvous, which shares its store always. */}}
{{- define "training-job.checkRestarts" -}}
{{- $value := include "training-job.restarts" . -}}
{{- if and $value (include "training-job.isStatic" .) -}}
{{- $way := "set layout to worker-only" -}}
{{- if eq .Values.launcher "accelerate" -}}
{{- $way = "add --rdzv_backend=c10d" -}}
{{- else if eq .Values.kind "TrainJob" -}}
{{- $way = "set kind to PyTorchJob and layout to worker-only" -}}
{{- end -}}
{{- $reason := "processes that torchrun restarts would find the addresses of the last attempt in the first pod's store" -}}
{{- $advice := printf "%s, or remove the restarts, and restartPolicy restarts the pods" $way -}}
{{- fail (printf "%s: %s; %s" $value $reason $advice) -}}
{{- end -}}
{{- end -}}
