{{/*
A runtime is an entry of `runtimes` and the values that all of them share. Read in kubeflow/trainer v2.3.0: the plugins of
pkg/runtime/framework/plugins, and what the SDK (kubeflow 0.5.0, trainer/backends/kubernetes) takes from a runtime.
*/}}

{{/*
training-runtimes.root: a root context whose values are those of one runtime: its `resources` and `env` are merged over the
shared ones, and its `image` replaces the shared one. A ComputeDomain is an object of a namespace, so a runtime has none. Takes
(dict "root" <root context> "runtime" <entry of runtimes>) and adds the result to it as `own`.
*/}}
{{- define "training-runtimes.root" -}}
{{- $values := deepCopy .root.Values -}}
{{- range $part := list "resources" "env" -}}
{{- $_ := set $values $part (mergeOverwrite (get $values $part) (deepCopy (get $.runtime $part | default dict))) -}}
{{- end -}}
{{- with .runtime.image -}}
{{- $_ := set $values "image" (merge (deepCopy .) (pick $values.image "pullPolicy" "pullSecrets")) -}}
{{- end -}}
{{- $_ := set $values.fabric "computeDomain" (dict "enabled" false) -}}
{{- $_ := set . "own" (set (omit .root "Values") "Values" $values) -}}
{{- end -}}

{{/*
training-runtimes.spec: the spec of a runtime. Without the ancestor label a TrainJob would change nothing in the pods.
`replicas` of each job must be 1, its default. Takes (dict "name" <name> "runtime" <entry of runtimes> "root" <its root
context>).
*/}}
{{- define "training-runtimes.spec" -}}
{{- $isMpi := eq .runtime.policy "mpi" -}}
mlPolicy:
  numNodes: {{ .runtime.nodes | default 1 | int64 }}
  {{- if $isMpi }}
  mpi:
    mpiImplementation: OpenMPI
    sshAuthMountPath: /home/mpiuser/.ssh
    runLauncherAsNode: true
  {{- else if eq (include "training-runtimes.hasPreflight" .) "true" }}
  {{- /* Trainer before 2.3 drops it, and each node is then checked alone. */}}
  torch:
    envInjection:
      targets:
        - jobName: node
          containerNames: [preflight]
  {{- else }}
  {{ .runtime.policy }}: {}
  {{- end }}
{{- with include "training-runtimes.podGroupPolicy" .root }}
podGroupPolicy:
  {{- . | nindent 2 }}
{{- end }}
template:
  spec:
    {{- /* The pods find each other by name before they are ready. */}}
    network:
      publishNotReadyAddresses: true
    {{- with int64 .root.Values.maxRestarts }}
    failurePolicy:
      maxRestarts: {{ . }}
    {{- end }}
    {{- if $isMpi }}
    successPolicy:
      operator: All
      targetReplicatedJobs: [launcher]
    {{- end }}
    replicatedJobs:
      {{- if $isMpi }}
      - name: node
        template:
          spec:
            {{- include "training-runtimes.job" (merge (dict "role" "sshd") .) | nindent 12 }}
      - name: launcher
        dependsOn:
          - name: node
            status: Ready
      {{- else }}
      - name: node
      {{- end }}
        template:
          metadata:
            labels:
              trainer.kubeflow.org/trainjob-ancestor-step: trainer
          spec:
            {{- include "training-runtimes.job" (merge (dict "role" (ternary "launcher" "node" $isMpi)) .) | nindent 12 }}
{{- end -}}

{{/*
training-runtimes.job: the spec of a Job. One failed pod ends the Job, and JobSet creates all pods again: ranks cannot go on
without each other. Of a pod that is being deleted no second one is made, or two of one rank would write checkpoints. Takes
what `training-runtimes.spec` takes, and `role`: `node`, `launcher` or `sshd`.
*/}}
{{- define "training-runtimes.job" -}}
backoffLimit: 0
podReplacementPolicy: Failed
template:
  {{- include "training-runtimes.pod" . | nindent 2 }}
{{- end -}}

{{/*
training-runtimes.podGroupPolicy: has Trainer create a PodGroup of all pods. Empty without a gang scheduler. Takes the
root context.
*/}}
{{- define "training-runtimes.podGroupPolicy" -}}
{{- $scheduler := .Values.scheduling.gang.scheduler -}}
{{- if ne $scheduler "none" -}}
{{ ternary "volcano" "coscheduling" (eq $scheduler "volcano") }}: {}
{{- end -}}
{{- end -}}
