{{/*
Address management (IPAM) of a network.
*/}}

{{/*
training-networks.ipam: the `ipam` configuration of a network's plugin as JSON, empty for `none`. Takes one of the
networks.
*/}}
{{- define "training-networks.ipam" -}}
{{- $ipam := .ipam | default dict -}}
{{- $result := dict -}}
{{- if eq $ipam.type "host-local" -}}
{{- $range := pick $ipam "subnet" "rangeStart" "rangeEnd" "gateway" -}}
{{- $result = dict "ranges" (list (list $range)) -}}
{{- else if eq $ipam.type "static" -}}
{{- $addresses := list -}}
{{- range $ipam.addresses -}}{{- $addresses = append $addresses (dict "address" .) -}}{{- end -}}
{{- $result = dict "addresses" $addresses -}}
{{- else if eq $ipam.type "whereabouts" -}}
{{- $called := dict "subnet" "range" "rangeStart" "range_start" "rangeEnd" "range_end" "networkName" "network_name" -}}
{{- range $key, $value := omit $ipam "type" "railPrefix" "routes" -}}
{{- $_ := set $result (get $called $key | default $key) $value -}}
{{- end -}}
{{- else if eq $ipam.type "nv-ipam" -}}
{{- $pool := $ipam.pool -}}
{{- $result = dict "poolName" ($pool.name | default .name) "poolType" ($pool.kind | default "IPPool" | lower) -}}
{{- end -}}
{{- if has $ipam.type (list "host-local" "static" "whereabouts") -}}
{{- with $ipam.routes -}}{{- $_ := set $result "routes" . -}}{{- end -}}
{{- end -}}
{{- if and $ipam.type (ne $ipam.type "none") -}}
{{- $_ := set $result "type" $ipam.type -}}
{{- end -}}
{{- toRawJson $result -}}
{{- end -}}

{{/* training-networks.checkIpam: fails for addresses that could not be assigned, or would be assigned
twice. Takes one of the networks. */}}
{{- define "training-networks.checkIpam" -}}
{{- $where := printf "networks: %s:" .name -}}
{{- $ipam := .ipam | default dict -}}
{{- if and (not $ipam.type) (ne .type "ib-sriov") -}}
{{- $advice := "write whereabouts or nv-ipam, or none for an interface without an address" -}}
{{- fail (printf "%s ipam.type is missing; %s" $where $advice) -}}
{{- end -}}
{{- $type := $ipam.type | default "none" -}}
{{- $fields := dict "none" list
    "host-local" (list "subnet" "railPrefix" "rangeStart" "rangeEnd" "gateway" "routes" "sameOnEveryNode")
    "static" (list "addresses" "routes")
    "whereabouts" (list "subnet" "railPrefix" "rangeStart" "rangeEnd" "gateway" "exclude" "networkName" "routes")
    "nv-ipam" (list "subnet" "railPrefix" "gateway" "pool") -}}
{{- $own := get $fields $type -}}
{{- range $key := omit $ipam "type" | keys | sortAlpha -}}
{{- if not (has $key $own) -}}
{{- fail (printf "%s ipam.%s: type %s has no such field; its fields are %s" $where $key $type
    (join ", " $own | default "none")) -}}
{{- end -}}
{{- end -}}
{{- $named := dig "pool" "name" "" $ipam -}}
{{- if and (has "subnet" $own) (not $ipam.subnet) (not $named) -}}
{{- fail (printf "%s ipam.subnet is missing; write the IP range of the network, e.g. 10.90.0.0/20" $where) -}}
{{- end -}}
{{- if and (eq $type "host-local") (ne .type "bridge") (not $ipam.sameOnEveryNode) -}}
{{- $advice := "write whereabouts or nv-ipam, or sameOnEveryNode: true if that is intended" -}}
{{- fail (printf "%s ipam.type: host-local assigns the same addresses on every node; %s" $where $advice) -}}
{{- end -}}
{{- if eq $type "nv-ipam" -}}
{{- include "training-networks.checkPool" . -}}
{{- end -}}
{{- end -}}

{{/* training-networks.checkPool: fails for a pool that nv-ipam refuses. Takes one of the networks. */}}
{{- define "training-networks.checkPool" -}}
{{- $where := printf "networks: %s: ipam.pool" .name -}}
{{- $pool := .ipam.pool | default dict -}}
{{- $kind := $pool.kind | default "IPPool" -}}
{{- $size := ternary "perNodeBlockSize" "perNodeNetworkPrefix" (eq $kind "IPPool") -}}
{{- $other := ternary (list "perNodeNetworkPrefix" "gatewayIndex") (list "perNodeBlockSize") (eq $kind "IPPool") -}}
{{- if $pool.name -}}
{{- with pick .ipam "subnet" "gateway" | keys | sortAlpha -}}
{{- fail (printf "%s is the existing pool %s, which has its own range: remove ipam.%s, or pool.name" $where $pool.name
    (first .)) -}}
{{- end -}}
{{- with omit $pool "name" "kind" | keys | sortAlpha -}}
{{- fail (printf "%s.%s: this release does not create the existing pool %s; remove the field, or remove name" $where
    (first .) $pool.name) -}}
{{- end -}}
{{- else if not (hasKey $pool $size) -}}
{{- fail (printf "%s.%s is missing; write the size of each node's part of the range" $where $size) -}}
{{- end -}}
{{- if and .ipam.gateway (eq $kind "CIDRPool") -}}
{{- fail (printf "%s: a CIDRPool has a gateway in each node's subnet: write pool.gatewayIndex in place of ipam.gateway" $where) -}}
{{- end -}}
{{- range $other -}}
{{- if hasKey $pool . -}}
{{- fail (printf "%s.%s: a pool of kind %s has no such field; remove it" $where . $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* training-networks.poolNodes: the node selector of a pool of nv-ipam. Takes a pool of the values. */}}
{{- define "training-networks.poolNodes" -}}
{{- with .nodeLabels -}}
nodeSelector:
  nodeSelectorTerms:
    - matchExpressions:
        {{- range $key, $value := . }}
        - key: {{ $key | quote }}
          operator: In
          values: [{{ $value | quote }}]
        {{- end }}
{{- end -}}
{{- end -}}
