{{/*
The networks of the entries of `networks`: one per entry, or one per rail.
*/}}

{{/*
training-networks.networks: all networks as a JSON list. Each rail is a network with its own name and range and the
common fields of its entry. Fails for contradictory values. Takes the root context.
*/}}
{{- define "training-networks.networks" -}}
{{- $networks := list -}}
{{- $names := dict -}}
{{- range $entry := .Values.networks -}}
{{- $rails := $entry.rails | default (list dict) -}}
{{- range $index, $rail := $rails -}}
{{- $network := omit (deepCopy $entry) "rails" | merge (deepCopy $rail) -}}
{{- if $entry.rails -}}
{{- $_ := set $network "name" (printf "%s-%d" $entry.name $index) -}}
{{- $own := dig "ipam" "subnet" "" $rail -}}
{{- $ipam := $network.ipam | default dict -}}
{{- if and $ipam.railPrefix (not $own) -}}
{{- $of := dict "entry" $entry "index" $index "count" (len $rails) -}}
{{- $_ := set $ipam "subnet" (include "training-networks.railSubnet" $of) -}}
{{- else if and $ipam.subnet (not $own) (gt (len $rails) 1) -}}
{{- $advice := "write rails[].ipam.subnet, or ipam.railPrefix to divide the range" -}}
{{- fail (printf "networks: %s: ipam.subnet: all rails would assign the same addresses; %s" $entry.name $advice) -}}
{{- end -}}
{{- with pick ($entry.ipam | default dict) "gateway" "rangeStart" "rangeEnd" | keys | sortAlpha -}}
{{- $what := "is an address on a single rail" -}}
{{- fail (printf "networks: %s: ipam.%s %s; write rails[].ipam.%s" $entry.name (first .) $what (first .)) -}}
{{- end -}}
{{- end -}}
{{- $_ := set $network "namespace" ($network.namespace | default $.Release.Namespace) -}}
{{- $place := printf "%s/%s" $network.namespace $network.name -}}
{{- if hasKey $names $place -}}
{{- fail (printf "networks: %s is defined twice; give each network a unique name" $place) -}}
{{- end -}}
{{- $_ := set $names $place true -}}
{{- include "training-networks.checkNetwork" $network -}}
{{- $networks = append $networks $network -}}
{{- end -}}
{{- end -}}
{{- toJson $networks -}}
{{- end -}}

{{/*
training-networks.fields: the fields of each type of network, as JSON, without those that all types have. Source: the
NetConf of each plugin in containernetworking/plugins v1.8, k8snetworkplumbingwg/sriov-cni v2.9 and ib-sriov-cni v1.3.
*/}}
{{- define "training-networks.fields" -}}
{{- dict
    "macvlan" (list "master" "mode" "mtu")
    "ipvlan" (list "master" "mode" "mtu")
    "host-device" (list "device" "pciBusID" "resourceName" "rdma")
    "sriov" (list "resourceName" "vlan" "vlanQoS" "spoofChk" "trust" "linkState" "minTxRate" "maxTxRate" "rdma")
    "ib-sriov" (list "resourceName" "pkey" "linkState" "rdmaIsolation" "ibKubernetes")
    "bridge" (list "bridge" "vlan" "mtu" "isGateway" "ipMasq") | toJson -}}
{{- end -}}

{{/* training-networks.checkNetwork: fails for a network that its plugin cannot create. Takes one of the networks. */}}
{{- define "training-networks.checkNetwork" -}}
{{- $where := printf "networks: %s:" .name -}}
{{- $fields := include "training-networks.fields" . | fromJson -}}
{{- $own := get $fields .type -}}
{{- range $key := omit . "name" "namespace" "type" "ipam" "sbr" "sysctl" | keys | sortAlpha -}}
{{- if not (has $key $own) -}}
{{- fail (printf "%s %s: type %s has no such field; its fields are %s" $where $key $.type (join ", " $own)) -}}
{{- end -}}
{{- end -}}
{{- $needed := get (dict "macvlan" "master" "ipvlan" "master" "bridge" "bridge" "sriov" "resourceName"
    "ib-sriov" "resourceName") .type -}}
{{- if and $needed (not (get . $needed)) -}}
{{- $what := get (dict "master" "an interface of the nodes, e.g. eth1" "bridge" "a bridge, e.g. br1"
    "resourceName" "the resource name of the device plugin, e.g. nvidia.com/rail0") $needed -}}
{{- fail (printf "%s %s is missing; write %s" $where $needed $what) -}}
{{- end -}}
{{- $sources := pick . "device" "pciBusID" "resourceName" | keys | sortAlpha -}}
{{- if and (eq .type "host-device") (ne (len $sources) 1) -}}
{{- fail (printf "%s a host-device needs exactly one of device, pciBusID and resourceName; the entry has %d" $where
    (len $sources)) -}}
{{- end -}}
{{- $modes := get (dict "macvlan" (list "bridge" "private" "vepa" "passthru") "ipvlan" (list "l2" "l3" "l3s")) .type -}}
{{- if and .mode (not (has .mode $modes)) -}}
{{- fail (printf "%s mode: %s has no mode %s; write one of %s" $where .type .mode (join ", " $modes)) -}}
{{- end -}}
{{- include "training-networks.checkIpam" . -}}
{{- end -}}

{{/*
training-networks.railSubnet: the subnet of a rail within the range of its entry. Takes (dict "entry" "index" "count").
*/}}
{{- define "training-networks.railSubnet" -}}
{{- $where := printf "networks: %s:" .entry.name -}}
{{- $subnet := .entry.ipam.subnet | default "" -}}
{{- if not (regexMatch "^[0-9]+\\.[0-9]+\\.[0-9]+\\.[0-9]+/[0-9]+$" $subnet) -}}
{{- fail (printf "%s ipam.railPrefix requires an IPv4 ipam.subnet; write one, e.g. 10.90.0.0/16" $where) -}}
{{- end -}}
{{- $numbers := list -}}
{{- range regexSplit "[./]" $subnet -1 -}}{{- $numbers = append $numbers (atoi .) -}}{{- end -}}
{{- $size := include "training-networks.power" (sub 32 (index $numbers 4)) | int64 -}}
{{- $step := include "training-networks.power" (sub 32 (int .entry.ipam.railPrefix)) | int64 -}}
{{- if gt (mul $step .count) $size -}}
{{- fail (printf "%s ipam.subnet: %s has no room for %d parts of /%d; write a larger range or a longer railPrefix"
    $where $subnet .count (int .entry.ipam.railPrefix)) -}}
{{- end -}}
{{- $address := 0 -}}
{{- range slice $numbers 0 4 -}}{{- $address = add (mul $address 256) . -}}{{- end -}}
{{- $address = add (sub $address (mod $address $size)) (mul $step .index) -}}
{{- printf "%d.%d.%d.%d/%d" (div $address 16777216) (mod (div $address 65536) 256) (mod (div $address 256) 256)
    (mod $address 256) (int .entry.ipam.railPrefix) -}}
{{- end -}}

{{/* training-networks.power: two to the power of a number. */}}
{{- define "training-networks.power" -}}
{{- $power := 1 -}}
{{- range until (int .) -}}{{- $power = mul $power 2 -}}{{- end -}}
{{- $power -}}
{{- end -}}
