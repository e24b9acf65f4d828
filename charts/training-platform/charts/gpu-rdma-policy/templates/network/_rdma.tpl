{{/* Resources of the network operator's device plugins. Their JSON configuration is generated from typed values. */}}

{{/*
gpu-rdma-policy.sharedConfig: the configuration of the RDMA shared device plugin. Takes (dict "devices" <list> "root"
<root context>).
*/}}
{{- define "gpu-rdma-policy.sharedConfig" -}}
{{- $listed := list -}}
{{- range .devices -}}
{{- $selectors := pick . "vendors" "deviceIDs" "drivers" "ifNames" "linkTypes" -}}
{{- $selectors = merge (deepCopy $selectors) (dict "vendors" (list "15b3")) -}}
{{- $listed = append $listed (dict "resourcePrefix" (.prefix | default "rdma") "resourceName" .name
    "rdmaHcaMax" (.hcaMax | default 63 | int) "selectors" $selectors) -}}
{{- end -}}
{{- dict "periodicUpdateInterval" (int .root.Values.rdma.periodicUpdateSeconds) "configList" $listed | toRawJson -}}
{{- end -}}

{{/* gpu-rdma-policy.hostConfig: the configuration of the SR-IOV device plugin. Takes a list of devices. */}}
{{- define "gpu-rdma-policy.hostConfig" -}}
{{- $listed := list -}}
{{- range . -}}
{{- $selectors := omit . "name" "prefix" "excludeTopology" | deepCopy -}}
{{- $selectors = merge $selectors (dict "vendors" (list "15b3")) -}}
{{- if not (hasKey . "isRdma") -}}{{- $_ := set $selectors "isRdma" true -}}{{- end -}}
{{- $entry := dict "resourcePrefix" (.prefix | default "nvidia.com") "resourceName" .name "selectors" $selectors -}}
{{- if .excludeTopology -}}{{- $_ := set $entry "excludeTopology" true -}}{{- end -}}
{{- $listed = append $listed $entry -}}
{{- end -}}
{{- dict "resourceList" $listed | toRawJson -}}
{{- end -}}

{{/*
gpu-rdma-policy.resources: the full names of the resources of some devices as a JSON list. Takes (dict "shared" <list>
"host" <list>).
*/}}
{{- define "gpu-rdma-policy.resources" -}}
{{- $names := list -}}
{{- range .shared -}}{{- $names = append $names (printf "%s/%s" (.prefix | default "rdma") .name) -}}{{- end -}}
{{- range .host -}}{{- $names = append $names (printf "%s/%s" (.prefix | default "nvidia.com") .name) -}}{{- end -}}
{{- toJson $names -}}
{{- end -}}

{{/*
gpu-rdma-policy.checkDevices: fails for a resource of two plugins, because the kubelet would keep only the last one.
Takes (dict "shared" <list> "host" <list> "where" <text> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.checkDevices" -}}
{{- $seen := dict -}}
{{- range include "gpu-rdma-policy.sriovPolicies" .root | fromJsonArray -}}
{{- $_ := set $seen (printf "nvidia.com/%s" .resourceName) "sriov.policies" -}}
{{- end -}}
{{- range include "gpu-rdma-policy.resources" . | fromJsonArray -}}
{{- if hasKey $seen . -}}
{{- fail (printf "%s: the resource %s is also defined in %s; give each resource a unique name" $.where .
    (get $seen .)) -}}
{{- end -}}
{{- $_ := set $seen . $.where -}}
{{- end -}}
{{- $exclusive := list -}}
{{- range .root.Values.sriov.pools -}}
{{- if eq (.rdmaMode | default "") "exclusive" -}}{{- $exclusive = append $exclusive .name -}}{{- end -}}
{{- end -}}
{{- if and .shared $exclusive (not .root.Values.network.pools) -}}
{{- $advice := "write rdma.sharedDevices: [], or rdmaMode: shared" -}}
{{- fail (printf "sriov.pools: %s: rdmaMode: exclusive hides the devices of the RDMA shared device plugin from pods; %s"
    (first $exclusive) $advice) -}}
{{- end -}}
{{- end -}}

{{/*
gpu-rdma-policy.advertised: the full names of all resources that the device plugins of the network operator and the
SR-IOV operator provide, as a JSON list. Takes the root context.
*/}}
{{- define "gpu-rdma-policy.advertised" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
{{- $names := list -}}
{{- if $settings.network -}}
{{- range $pool := .Values.network.pools | default (list dict) -}}
{{- $shared := ternary $pool.sharedDevices $settings.sharedDevices (hasKey $pool "sharedDevices") -}}
{{- $host := ternary $pool.hostDevices $.Values.rdma.hostDevices (hasKey $pool "hostDevices") -}}
{{- $names = concat $names (include "gpu-rdma-policy.resources" (dict "shared" $shared "host" $host) | fromJsonArray) -}}
{{- end -}}
{{- end -}}
{{- /* Resource prefix that NVIDIA's chart sets for the SR-IOV operator. */}}
{{- range include "gpu-rdma-policy.sriovPolicies" . | fromJsonArray -}}
{{- $names = append $names (printf "nvidia.com/%s" .resourceName) -}}
{{- end -}}
{{- $names | uniq | toJson -}}
{{- end -}}
