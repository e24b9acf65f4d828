{{/* The policies of the entries of `sriov.policies`: one per entry, or one per rail. */}}

{{/*
gpu-rdma-policy.sriovPolicies: all policies as a JSON list. Each has a `name`, its `resourceName`, the resource `of` its
entry, and a `spec`. Takes the root context.
*/}}
{{- define "gpu-rdma-policy.sriovPolicies" -}}
{{- $settings := include "gpu-rdma-policy.settings" . | fromJson -}}
{{- $policies := list -}}
{{- range $entry := .Values.sriov.policies -}}
{{- range $index, $rail := $entry.rails | default (list dict) -}}
{{- $policy := mergeOverwrite (omit (deepCopy $entry) "rails") (deepCopy $rail) -}}
{{- if $entry.rails -}}
{{- $_ := set $policy "name" (printf "%s-%d" $entry.name $index) -}}
{{- if not $rail.resourceName -}}
{{- $_ := set $policy "resourceName" (printf "%s%d" $entry.resourceName $index) -}}
{{- end -}}
{{- end -}}
{{- $spec := omit $policy "name" "vendor" "deviceID" "pfNames" "rootDevices" "netFilter" -}}
{{- $isPassed := eq ($policy.deviceType | default "netdevice") "vfio-pci" -}}
{{- $defaults := dict "nodeSelector" $.Values.sriov.nodeSelector "deviceType" "netdevice"
    "linkType" $settings.linkType -}}
{{- $_ := set $spec "isRdma" (ternary $policy.isRdma (not $isPassed) (hasKey $policy "isRdma")) -}}
{{- range $key, $value := $defaults -}}
{{- if not (hasKey $spec $key) -}}{{- $_ := set $spec $key $value -}}{{- end -}}
{{- end -}}
{{- $_ := set $spec "nicSelector" (pick $policy "vendor" "deviceID" "pfNames" "rootDevices" "netFilter") -}}
{{- $made := dict "name" $policy.name "resourceName" $policy.resourceName "of" $entry.resourceName "spec" $spec -}}
{{- include "gpu-rdma-policy.checkSriovPolicy" (dict "policy" $made "others" $policies) -}}
{{- $policies = append $policies $made -}}
{{- end -}}
{{- end -}}
{{- toJson $policies -}}
{{- end -}}

{{/*
gpu-rdma-policy.checkSriovPolicy: fails for a policy that the operator would refuse, or that configures an adapter of
another policy. Takes (dict "policy" <one of the policies> "others" <those before it>).
*/}}
{{- define "gpu-rdma-policy.checkSriovPolicy" -}}
{{- $where := printf "sriov.policies: %s:" .policy.name -}}
{{- $spec := .policy.spec -}}
{{- if not $spec.linkType -}}
{{- fail (printf "%s linkType is missing; write eth or ib, or choose a profile" $where) -}}
{{- end -}}
{{- if not $spec.nicSelector -}}
{{- $advice := "select them by pfNames, rootDevices, deviceID, vendor or netFilter" -}}
{{- fail (printf "%s the policy selects no adapters; %s" $where $advice) -}}
{{- end -}}
{{- if and $spec.isRdma (eq $spec.deviceType "vfio-pci") -}}
{{- fail (printf "%s isRdma: functions with deviceType vfio-pci have no RDMA device; write netdevice" $where) -}}
{{- end -}}
{{- if and (eq ($spec.eSwitchMode | default "") "switchdev") (eq $spec.linkType "ib") -}}
{{- fail (printf "%s eSwitchMode: switchdev requires Ethernet; remove it" $where) -}}
{{- end -}}
{{- range $spec.nicSelector.pfNames -}}
{{- $functions := regexFind "[0-9]+-[0-9]+$" (regexFind "#.*" .) | default "0-0" | splitList "-" -}}
{{- $first := first $functions | int -}}
{{- $last := last $functions | int -}}
{{- if or (gt $first $last) (ge $last (int $spec.numVfs)) -}}
{{- fail (printf "%s pfNames: %s: the functions are 0 to %d; write a range within them" $where .
    (sub (int $spec.numVfs) 1)) -}}
{{- end -}}
{{- end -}}
{{- range $other := .others -}}
{{- if eq $other.name $.policy.name -}}
{{- fail (printf "%s is defined twice; give each policy a unique name" $where) -}}
{{- end -}}
{{- $isSame := eq (toJson $other.spec.nodeSelector) (toJson $spec.nodeSelector) -}}
{{- if and $isSame (eq $other.resourceName $.policy.resourceName) -}}
{{- $advice := "use another resourceName or nodeSelector" -}}
{{- fail (printf "%s resourceName: %s already provides the resource %s on the same nodes; %s" $where $other.name
    $other.resourceName $advice) -}}
{{- end -}}
{{- if $isSame -}}
{{- include "gpu-rdma-policy.checkOverlap" (dict "where" $where "one" $spec "other" $other) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
gpu-rdma-policy.checkOverlap: fails for an adapter, or virtual functions of it, that belong to another policy. Takes
(dict "where" <text> "one" <spec of the policy> "other" <policy before it>).
*/}}
{{- define "gpu-rdma-policy.checkOverlap" -}}
{{- range $root := .one.nicSelector.rootDevices -}}
{{- if has $root ($.other.spec.nicSelector.rootDevices | default list) -}}
{{- fail (printf "%s rootDevices: %s already belongs to %s; remove one" $.where $root $.other.name) -}}
{{- end -}}
{{- end -}}
{{- range $pf := .one.nicSelector.pfNames -}}
{{- range $taken := $.other.spec.nicSelector.pfNames -}}
{{- $ranges := list -}}
{{- range list $pf $taken -}}
{{- $functions := regexFind "[0-9]+-[0-9]+$" (regexFind "#.*" .) | default "0-127" | splitList "-" -}}
{{- $ranges = append $ranges (dict "first" (first $functions | int) "last" (last $functions | int)) -}}
{{- end -}}
{{- $isSame := eq (regexFind "^[^#]+" $pf) (regexFind "^[^#]+" $taken) -}}
{{- $isApart := or (lt (first $ranges).last (last $ranges).first) (lt (last $ranges).last (first $ranges).first) -}}
{{- if and $isSame (not $isApart) -}}
{{- fail (printf "%s pfNames: %s: %s already has these functions; write others, e.g. %s#0-3" $.where $pf $.other.name
    (regexFind "^[^#]+" $pf)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
