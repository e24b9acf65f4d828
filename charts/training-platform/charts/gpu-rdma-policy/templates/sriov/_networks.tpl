{{/* The networks of the entries of `sriov.networks`: one per entry, or one per rail. */}}

{{/*
gpu-rdma-policy.sriovNetworks: all networks as a JSON list. Each has a `name`, a `kind` and a `spec`. Takes the root
context.
*/}}
{{- define "gpu-rdma-policy.sriovNetworks" -}}
{{- $policies := include "gpu-rdma-policy.sriovPolicies" . | fromJsonArray -}}
{{- $networks := list -}}
{{- $names := list -}}
{{- range $entry := .Values.sriov.networks -}}
{{- $where := printf "sriov.networks: %s:" $entry.name -}}
{{- $found := include "gpu-rdma-policy.advertising" (dict "network" $entry "policies" $policies) | fromJsonArray -}}
{{- if and $entry.rails (ne (len $entry.rails) (len $found)) -}}
{{- fail (printf "%s rails: the network has %d, but the policies of %s have %d" $where (len $entry.rails) $entry.resourceName
    (len $found)) -}}
{{- end -}}
{{- range $index, $policy := $found -}}
{{- $rail := dict -}}
{{- if $entry.rails -}}{{- $rail = index $entry.rails $index -}}{{- end -}}
{{- $network := mergeOverwrite (omit (deepCopy $entry) "rails") (deepCopy $rail) -}}
{{- $_ := set $network "resourceName" $policy.resourceName -}}
{{- if or $entry.rails (gt (len $found) 1) -}}
{{- $_ := set $network "name" (printf "%s-%d" $entry.name $index) -}}
{{- end -}}
{{- if has $network.name $names -}}
{{- fail (printf "%s is defined twice; give each network a unique name" $where) -}}
{{- end -}}
{{- $names = append $names $network.name -}}
{{- $kind := ternary "SriovIBNetwork" "SriovNetwork" (eq $policy.spec.linkType "ib") -}}
{{- include "gpu-rdma-policy.checkSriovNetwork" (dict "network" $network "kind" $kind "root" $) -}}
{{- $spec := include "gpu-rdma-policy.sriovNetworkSpec" (dict "network" $network "root" $) | fromJson -}}
{{- $networks = append $networks (dict "name" $network.name "kind" $kind "spec" $spec) -}}
{{- end -}}
{{- end -}}
{{- toJson $networks -}}
{{- end -}}

{{/*
gpu-rdma-policy.advertising: the policies that provide the `resourceName` of a network, as a JSON list: one policy, or
those of all rails of an entry. Fails if there is none. Takes (dict "network" <entry> "policies" <all>).
*/}}
{{- define "gpu-rdma-policy.advertising" -}}
{{- $found := list -}}
{{- $resources := list -}}
{{- $known := list -}}
{{- range .policies -}}
{{- $known = append (append $known .of) .resourceName -}}
{{- $isMeant := or (eq .of $.network.resourceName) (eq .resourceName $.network.resourceName) -}}
{{- if and $isMeant (not (has .resourceName $resources)) -}}
{{- $found = append $found . -}}
{{- $resources = append $resources .resourceName -}}
{{- end -}}
{{- end -}}
{{- if not $found -}}
{{- $advice := ternary (printf "write one of %s" ($known | uniq | sortAlpha | join ", ")) "add one to sriov.policies"
    (not (empty $known)) -}}
{{- fail (printf "sriov.networks: %s: resourceName: no policy provides the resource %s; %s" .network.name
    .network.resourceName $advice) -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/*
gpu-rdma-policy.checkSriovNetwork: fails for a field that the kind of network does not have, and for RDMA devices that
cannot move into a pod. Takes (dict "network" <one of the networks> "kind" <of it> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.checkSriovNetwork" -}}
{{- $where := printf "sriov.networks: %s:" .network.name -}}
{{- if eq .kind "SriovIBNetwork" -}}
{{- range pick .network "vlan" "vlanQoS" "vlanProto" "spoofChk" "trust" "minTxRate" "maxTxRate" | keys | sortAlpha -}}
{{- fail (printf "%s %s: an InfiniBand network has no such field; remove it" $where .) -}}
{{- end -}}
{{- else if not .network.ipam -}}
{{- fail (printf "%s ipam is missing, and RoCE needs an address; write e.g. {type: nv-ipam, poolName: roce}" $where) -}}
{{- end -}}
{{- $shared := list -}}
{{- range .root.Values.sriov.pools -}}
{{- if eq (.rdmaMode | default "") "shared" -}}{{- $shared = append $shared .name -}}{{- end -}}
{{- end -}}
{{- if and .network.rdma $shared -}}
{{- fail (printf "%s rdma: devices move into pods only in the mode exclusive; write it in sriov.pools: %s: rdmaMode" $where
    (first $shared)) -}}
{{- end -}}
{{- end -}}

{{/*
gpu-rdma-policy.sriovNetworkSpec: the spec of a network as JSON. The operator expects some of its fields as JSON text.
Takes (dict "network" <one of the networks> "root" <root context>).
*/}}
{{- define "gpu-rdma-policy.sriovNetworkSpec" -}}
{{- $network := .network -}}
{{- $spec := omit $network "name" "ipam" "capabilities" "spoofChk" "trust" "rdma" "sbr" "sysctl" -}}
{{- range $key := list "spoofChk" "trust" -}}
{{- if hasKey $network $key -}}{{- $_ := set $spec $key (ternary "on" "off" (get $network $key)) -}}{{- end -}}
{{- end -}}
{{- range $key := list "ipam" "capabilities" -}}
{{- with get $network $key -}}{{- $_ := set $spec $key (toRawJson .) -}}{{- end -}}
{{- end -}}
{{- $plugins := list -}}
{{- with $network.sysctl -}}{{- $plugins = append $plugins (dict "type" "tuning" "sysctl" . | toRawJson) -}}{{- end -}}
{{- if $network.rdma -}}{{- $plugins = append $plugins (dict "type" "rdma" | toRawJson) -}}{{- end -}}
{{- if $network.sbr -}}{{- $plugins = append $plugins (dict "type" "sbr" | toRawJson) -}}{{- end -}}
{{- with $plugins -}}{{- $_ := set $spec "metaPlugins" (join "," .) -}}{{- end -}}
{{- toJson $spec -}}
{{- end -}}
