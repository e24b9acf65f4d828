{{/*
Checks of values that depend on each other, which a schema cannot express.
*/}}

{{/* training-platform.checkValues: fails for required values that are empty, and for values that contradict
each other. */}}
{{- define "training-platform.checkValues" -}}
{{- include "common.refuseEmpty" (dict "values" .Values "paths" (list "fabric" "fabric.profile" "runs" "queues" "queues.enabled"
    "queues.name" "operator" "operator.enabled" "trainer" "trainer.enabled" "networks" "networks.enabled"
    "gpu" "gpu.enabled" "nodeHealth" "nodeHealth.enabled" "monitoring" "monitoring.enabled" "runtimes" "runtimes.enabled")) -}}
{{- include "training-platform.checkKubernetes" . -}}
{{- include "training-platform.checkRuns" . -}}
{{- include "training-platform.checkGangs" . -}}
{{- include "training-platform.checkNetworks" . -}}
{{- include "training-platform.checkQueues" . -}}
{{- include "training-platform.checkNamespaces" . -}}
{{- include "training-platform.checkDevices" . -}}
{{- include "training-platform.checkOnce" . -}}
{{- include "training-platform.checkPolicies" . -}}
{{- include "training-platform.checkLabels" . -}}
{{- include "training-platform.checkHealth" . -}}
{{- end -}}

{{/* training-platform.checkKubernetes: fails for Trainer on clusters too old for it: Helm reads no kubeVersion of a part. */}}
{{- define "training-platform.checkKubernetes" -}}
{{- $version := .Capabilities.KubeVersion.Version -}}
{{- range $key := list "trainer" "runtimes" -}}
{{- if and (get $.Values $key).enabled (semverCompare "<1.31.0-0" $version) -}}
{{- $advice := printf "write %s.enabled: false, and run PyTorchJobs" $key -}}
{{- fail (printf "%s.enabled requires Kubernetes 1.31 or newer; the cluster has %s: %s" $key $version $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-platform.checkRuns: fails if `runs` contradicts the keys of the site that runs get their values from. */}}
{{- define "training-platform.checkRuns" -}}
{{- if hasKey .Values.runs "fabric" -}}
{{- fail "runs.fabric: write the key fabric of the site instead, from which runs get their network" -}}
{{- end -}}
{{- if and .Values.queues.enabled (dig "scheduling" "queue" "name" "" .Values.runs) -}}
{{- fail "runs.scheduling.queue.name: write queues.name instead, the queue of every run on this site" -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.checkGangs: fails if runs or runtimes ask for a gang scheduler whose PodGroups no controller of the site
would create: their pods would be placed one by one, or not at all.
*/}}
{{- define "training-platform.checkGangs" -}}
{{- $gang := dig "scheduling" "gang" dict .Values.runs -}}
{{- $wanted := dict "runs" ($gang.scheduler | default "none") -}}
{{- if .Values.runtimes.enabled -}}
{{- $_ := set $wanted "runtimes" (dig "scheduling" "gang" "scheduler" "none" .Values.runtimes) -}}
{{- end -}}
{{- range $key, $scheduler := $wanted -}}
{{- if and (ne $scheduler "none") $.Values.trainer.enabled (not (has $scheduler $.Values.trainer.gangSchedulers)) -}}
{{- $advice := append $.Values.trainer.gangSchedulers $scheduler | join ", " | printf "write trainer.gangSchedulers: [%s]" -}}
{{- fail (printf "%s.scheduling.gang.scheduler is %s, and Trainer may not create its PodGroups; %s" $key $scheduler $advice) -}}
{{- end -}}
{{- end -}}
{{- $usual := dict "volcano" "volcano" "scheduler-plugins" "scheduler-plugins-scheduler" -}}
{{- $name := $gang.schedulerName | default (get $usual $wanted.runs) -}}
{{- if and (ne $wanted.runs "none") .Values.operator.enabled (ne .Values.operator.gangScheduler.name $name) -}}
{{- $advice := printf "write operator.gangScheduler.name: %s" $name -}}
{{- fail (printf "runs.scheduling.gang.scheduler is %s, and the operator does not create its PodGroups; %s" $wanted.runs $advice) -}}
{{- end -}}
{{- end -}}

{{/* training-platform.checkNetworks: fails if the networks of the fabric are not networks of the site. */}}
{{- define "training-platform.checkNetworks" -}}
{{- $networks := include "training-platform.runNetworks" . | fromJsonArray -}}
{{- if and (eq .Values.fabric.profile "onprem-roce") (not $networks) -}}
{{- $advice := "write networks.networks, or name existing networks in fabric.networks" -}}
{{- fail (printf "fabric.profile onprem-roce: RoCE needs an interface in the pod; %s" $advice) -}}
{{- end -}}
{{- $isOracle := eq .Values.fabric.profile "oke-roce" -}}
{{- if and .Values.fabric.rails (ne (len $networks) 1) (or $networks (not $isOracle)) -}}
{{- fail (printf "fabric.rails requires a single network, but there are %d; name one in fabric.networks, or remove fabric.rails" (len $networks)) -}}
{{- end -}}
{{- if and $isOracle (eq (len $networks) 1) (not .Values.fabric.rails) -}}
{{- $advice := "write fabric.rails: 16, or 8 on shapes with one port for each GPU" -}}
{{- fail (printf "fabric.profile oke-roce: a run would attach %s only once; %s" (first $networks).name $advice) -}}
{{- end -}}
{{- $made := dict -}}
{{- range include "training-platform.madeNetworks" . | fromJsonArray -}}
{{- $_ := set $made (printf "%s/%s" .namespace .name) true -}}
{{- end -}}
{{- range $networks -}}
{{- $place := printf "%s/%s" (.namespace | default "") .name -}}
{{- if and $made (eq (.namespace | default "") $.Release.Namespace) (not (hasKey $made $place)) -}}
{{- $known := keys $made | sortAlpha | join ", " -}}
{{- fail (printf "fabric.networks: %s is not a network of this release (%s); add it to networks.networks" $place $known) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.checkNamespaces: fails if another component would refuse runs in the namespaces of the queues.
*/}}
{{- define "training-platform.checkNamespaces" -}}
{{- if and .Values.operator.enabled .Values.queues.enabled -}}
{{- $watched := .Values.operator.watchNamespace -}}
{{- range $queue := .Values.queues.clusterQueues -}}
{{- range $queue.namespaces -}}
{{- if and $watched (ne . $watched) -}}
{{- $what := printf "the operator watches only namespace %s" $watched -}}
{{- fail (printf "queues.clusterQueues: %s: namespace %s: %s; write operator.watchNamespace: \"\"" $queue.name . $what) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if .Values.networks.enabled -}}
{{- $isolation := .Subcharts.networks.Values.multus.namespaceIsolation -}}
{{- range include "training-platform.runNetworks" . | fromJsonArray -}}
{{- if and $isolation.enabled .namespace (not (has .namespace $isolation.globalNamespaces)) -}}
{{- $advice := printf "add %s to networks.multus.namespaceIsolation.globalNamespaces" .namespace -}}
{{- fail (printf "fabric.networks: %s/%s: pods of other namespaces may not attach it; %s" .namespace .name $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.checkDevices: fails if a run would request a device that no device plugin of the GPU and RDMA policy
provides, and wait forever. If the policy creates no plugins, the check is skipped, because others may be installed.
*/}}
{{- define "training-platform.checkDevices" -}}
{{- if .Values.gpu.enabled -}}
{{- $offered := include "gpu-rdma-policy.advertised" .Subcharts.gpu | fromJsonArray -}}
{{- range include "training-platform.resources" . | fromJsonArray -}}
{{- if and $offered (or (hasPrefix "rdma/" .) (hasPrefix "nvidia.com/" .)) (not (has . $offered)) -}}
{{- $advice := "add it to gpu.rdma or gpu.sriov.policies, or write another name in fabric.resources" -}}
{{- fail (printf "fabric: a run requests %s, but gpu provides only %s; %s" . (join ", " $offered) $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-platform.checkOnce: fails if two components would install or scrape the same thing. */}}
{{- define "training-platform.checkOnce" -}}
{{- $parts := .Subcharts -}}
{{- if and .Values.gpu.enabled .Values.networks.enabled -}}
{{- if and $parts.gpu.Values.network.multus $parts.networks.Values.multus.enabled -}}
{{- fail "gpu.network.multus and networks.multus.enabled: a second Multus on a node breaks both; set one of them to false" -}}
{{- end -}}
{{- end -}}
{{- if .Values.monitoring.enabled -}}
{{- $monitors := $parts.monitoring.Values.monitors -}}
{{- $twice := dict -}}
{{- if and .Values.operator.enabled $monitors.operator.enabled -}}
{{- $_ := set $twice "operator" (ternary "operator.serviceMonitor.enabled" "" $parts.operator.Values.serviceMonitor.enabled) -}}
{{- end -}}
{{- if and .Values.networks.enabled $monitors.multus.enabled -}}
{{- $_ := set $twice "multus" (ternary "networks.podMonitor.enabled" "" $parts.networks.Values.podMonitor.enabled) -}}
{{- end -}}
{{- if and .Values.gpu.enabled $monitors.dcgm.enabled -}}
{{- $_ := set $twice "dcgm" (ternary "gpu.dcgm.serviceMonitor.enabled" "" $parts.gpu.Values.dcgm.serviceMonitor.enabled) -}}
{{- end -}}
{{- range $monitor, $other := $twice -}}
{{- if $other -}}
{{- $what := "Prometheus would scrape the targets twice; set one of them to false" -}}
{{- fail (printf "monitoring.monitors.%s.enabled and %s: %s" $monitor $other $what) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-platform.checkPolicies: fails if the GPU and RDMA policies contradict the rest of the values. */}}
{{- define "training-platform.checkPolicies" -}}
{{- if .Values.gpu.enabled -}}
{{- $gpu := .Subcharts.gpu.Values -}}
{{- if not (has $gpu.profile (list "none" .Values.fabric.profile)) -}}
{{- fail (printf "gpu.profile is %s, but fabric.profile is %s; use the same profile in both" $gpu.profile .Values.fabric.profile) -}}
{{- end -}}
{{- if .Values.networks.enabled -}}
{{- $pools := .Subcharts.networks.Values.nvIpam.namespace -}}
{{- range include "training-platform.madeNetworks" . | fromJsonArray -}}
{{- if and (eq (dig "ipam" "type" "" .) "nv-ipam") (ne $pools $gpu.network.namespace) -}}
{{- $advice := printf "nv-ipam reads its pools from gpu.network.namespace, %s; use the same namespace in both" $gpu.network.namespace -}}
{{- fail (printf "networks.nvIpam.namespace is %s: %s" $pools $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range without .Values.queues.topologyLevels "kubernetes.io/hostname" -}}
{{- if and $gpu.topology.nodes (not (has . (values $gpu.topology.keys))) -}}
{{- $known := values $gpu.topology.keys | sortAlpha | join ", " -}}
{{- fail (printf "queues.topologyLevels: gpu.topology sets no label %s; write one of gpu.topology.keys: %s" . $known) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.checkLabels: fails if Prometheus would select the monitors of one component and not of another.
*/}}
{{- define "training-platform.checkLabels" -}}
{{- if .Values.monitoring.enabled -}}
{{- $labels := .Subcharts.monitoring.Values.monitors.labels -}}
{{- $others := dict -}}
{{- if .Values.operator.enabled -}}
{{- $_ := set $others "operator.serviceMonitor" .Subcharts.operator.Values.serviceMonitor -}}
{{- end -}}
{{- if .Values.trainer.enabled -}}
{{- $_ := set $others "trainer.serviceMonitor" .Subcharts.trainer.Values.serviceMonitor -}}
{{- end -}}
{{- if .Values.networks.enabled -}}
{{- $_ := set $others "networks.podMonitor" .Subcharts.networks.Values.podMonitor -}}
{{- end -}}
{{- if .Values.gpu.enabled -}}
{{- $_ := set $others "gpu.dcgm.serviceMonitor" .Subcharts.gpu.Values.dcgm.serviceMonitor -}}
{{- end -}}
{{- if .Values.nodeHealth.enabled -}}
{{- $_ := set $others "nodeHealth.podMonitor" .Subcharts.nodeHealth.Values.podMonitor -}}
{{- end -}}
{{- range $where, $monitor := $others -}}
{{- if and $monitor.enabled (ne (toJson $monitor.labels) (toJson $labels)) -}}
{{- $why := "which Prometheus selects monitors by; use the same labels in both" -}}
{{- fail (printf "%s.labels differ from monitoring.monitors.labels, %s" $where $why) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
training-platform.checkHealth: fails if a queue selects nodes by the label of the quarantine. Its capacity would change
with each quarantine, and Kueue would preempt the runs that the drain has just moved.
*/}}
{{- define "training-platform.checkHealth" -}}
{{- range $flavor := .Values.queues.flavors -}}
{{- if hasKey ($flavor.nodeLabels | default dict) "trainyard/quarantined" -}}
{{- $why := "node-health changes this label, and with it the capacity of the queues, in a loop" -}}
{{- fail (printf "queues.flavors: %s.nodeLabels names trainyard/quarantined: %s; remove it" $flavor.name $why) -}}
{{- end -}}
{{- end -}}
{{- end -}}
