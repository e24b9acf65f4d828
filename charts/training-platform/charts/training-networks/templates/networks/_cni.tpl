{{/*
The CNI configuration of a network. It is generated from typed values, never from text.
*/}}

{{/*
training-networks.config: the CNI configuration of a network as JSON, with a list of plugins if the network needs
several. Takes (dict "network" <one of the networks> "root" <root context>).
*/}}
{{- define "training-networks.config" -}}
{{- $network := .network -}}
{{- $about := dict "cniVersion" .root.Values.multus.cniVersion "name" $network.name -}}
{{- $first := dict "type" $network.type -}}
{{- /* Keys of the plugins that differ from the keys of the values. */}}
{{- $called := dict "spoofChk" "spoofchk" "linkState" "link_state" "minTxRate" "min_tx_rate" "maxTxRate" "max_tx_rate"
    "ibKubernetes" "ibKubernetesEnabled" -}}
{{- range $key, $value := omit $network "name" "namespace" "type" "ipam" "resourceName" "rdma" "sbr" "sysctl" -}}
{{- $written := ternary (int64 (ternary $value 0 (kindIs "float64" $value))) $value (kindIs "float64" $value) -}}
{{- /* The sriov plugin expects `on` or `off` for these two. */}}
{{- if has $key (list "spoofChk" "trust") -}}{{- $written = ternary "on" "off" $value -}}{{- end -}}
{{- $_ := set $first (get $called $key | default $key) $written -}}
{{- end -}}
{{- $ipam := include "training-networks.ipam" $network | fromJson -}}
{{- if and (eq ($ipam.type | default "") "whereabouts") (ne .root.Values.nodePaths.config "/etc/cni/net.d") -}}
{{- $_ := set $ipam "configuration_path" (printf "%s/whereabouts.d/whereabouts.conf" .root.Values.nodePaths.config) -}}
{{- end -}}
{{- with $ipam -}}{{- $_ := set $first "ipam" . -}}{{- end -}}
{{- /* With this capability Multus passes the addresses of a pod's annotation to the plugin. */}}
{{- if eq (dig "ipam" "type" "" $network) "static" -}}
{{- $_ := set $first "capabilities" (dict "ips" true) -}}
{{- end -}}
{{- $more := list -}}
{{- with $network.sysctl -}}{{- $more = append $more (dict "type" "tuning" "sysctl" .) -}}{{- end -}}
{{- if $network.rdma -}}{{- $more = append $more (dict "type" "rdma") -}}{{- end -}}
{{- if $network.sbr -}}{{- $more = append $more (dict "type" "sbr") -}}{{- end -}}
{{- if $more -}}
{{- toRawJson (merge (dict "plugins" (prepend $more $first)) $about) -}}
{{- else -}}
{{- toRawJson (merge $first $about) -}}
{{- end -}}
{{- end -}}
