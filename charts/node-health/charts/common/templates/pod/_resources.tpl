{{/*
Limits and requests of pods, by the rules of Kubernetes v1.34.4, pkg/apis/core/validation/validation.go:
ValidateResourceRequirements.
*/}}

{{/* common.quantityPattern: a quantity as Kubernetes writes it, without a sign. */}}
{{- define "common.quantityPattern" -}}
^([0-9]+([.][0-9]*)?|[.][0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]+)?$
{{- end -}}

{{/*
common.quantities: resources as a container has them, as YAML. The definitions of jobs take whole numbers and
text: a number with a fraction (`cpu: 1.5`), which a Pod would take, is written as text. Takes the mapping.
*/}}
{{- define "common.quantities" -}}
{{- $written := deepCopy . -}}
{{- range $name, $quantity := . -}}
{{- if not (or (kindIs "string" $quantity) (regexMatch "^[0-9]+$" (toJson $quantity))) -}}
{{- $_ := set $written $name (toString (toJson $quantity)) -}}
{{- end -}}
{{- end -}}
{{- toYaml $written -}}
{{- end -}}

{{/*
common.podResources: adds `limits` and `requests` of a pod that is a node of the run to a mapping: those of the value
`resources`, with a limit for CPU and memory where it names none. 8 CPUs and 64Gi for each accelerator are within what
the machines of all fabric profiles provide. Without accelerators the limits fit a laptop. A null means no limit. Takes
(dict "root" <root context> "into" <mapping>) and renders nothing; a mapping of the values stays the same one, so that
`trainyard fix` can change it.
*/}}
{{- define "common.podResources" -}}
{{- $limits := .root.Values.resources.limits | default dict -}}
{{- $defaults := dict "cpu" "500m" "memory" "1Gi" -}}
{{- if eq (include "common.hasGpus" .root) "true" -}}
{{- $count := max 1 (include "common.accelerators" .root | int64) -}}
{{- $defaults = dict "cpu" (mul $count 8) "memory" (mul $count 64 | printf "%dGi") -}}
{{- end -}}
{{- $missing := dict -}}
{{- range $name, $quantity := $defaults -}}
{{- if not (hasKey $limits $name) -}}
{{- $_ := set $missing $name $quantity -}}
{{- end -}}
{{- end -}}
{{- range $name, $quantity := $limits -}}
{{- if kindIs "invalid" $quantity -}}
{{- $limits = omit $limits $name -}}
{{- end -}}
{{- end -}}
{{- if $missing -}}
{{- $limits = merge (deepCopy $limits) $missing -}}
{{- end -}}
{{- $_ := set .into "limits" $limits -}}
{{- $_ := set .into "requests" (.root.Values.resources.requests | default dict) -}}
{{- end -}}

{{/*
common.resources: the `resources` of a container, with those of the fabric for a node of the run. Takes (dict "root"
<root context> "resources" <limits and requests> "isNode" <boolean>).
*/}}
{{- define "common.resources" -}}
{{- $limits := .resources.limits | default dict -}}
{{- $requests := .resources.requests | default dict -}}
{{- with ternary (include "common.fabric.resources" .root | fromYaml) (dict) .isNode -}}
{{- $limits = merge (deepCopy $limits) . -}}
{{- end }}
limits:
  {{- include "common.quantities" $limits | nindent 2 }}
requests:
  {{- merge (deepCopy $requests) $limits | include "common.quantities" | nindent 2 }}
{{- with ternary (include "common.claims" .root | fromYaml).claims (list) .isNode }}
claims:
  {{- range . }}
  - {{ pick . "name" "request" | toRawJson }}
  {{- end }}
{{- end }}
{{- end -}}

{{/*
common.checkResources: fails for limits and requests that Kubernetes refuses. Resources of the fabric belong to the path
`resources`. Takes (dict "root" <root context> "paths" <list of dotted keys>).
*/}}
{{- define "common.checkResources" -}}
{{- range $path := .paths -}}
{{- $resources := $.root.Values -}}
{{- range splitList "." $path -}}
{{- $resources = index $resources . -}}
{{- end -}}
{{- if eq $path "resources" -}}
{{- $resources = dict -}}
{{- include "common.podResources" (dict "root" $.root "into" $resources) -}}
{{- end -}}
{{- $limits := $resources.limits | default dict -}}
{{- $requests := $resources.requests | default dict -}}
{{- range $field, $quantities := dict "limits" $limits "requests" $requests -}}
{{- range $name, $quantity := $quantities -}}
{{- include "common.checkQuantity" (dict "at" (printf "%s.%s" $path $field) "name" $name "quantity" $quantity) -}}
{{- end -}}
{{- end -}}
{{- if eq $path "resources" -}}
{{- $fabric := include "common.fabric.resources" $.root | fromYaml -}}
{{- range $name, $quantity := $fabric -}}
{{- include "common.checkQuantity" (dict "at" "fabric.resources" "name" $name "quantity" $quantity) -}}
{{- end -}}
{{- $limits = merge (deepCopy $limits) $fabric -}}
{{- end -}}
{{- range $name, $quantity := $requests -}}
{{- $at := printf "%s.requests.%s" $path $name -}}
{{- if hasKey $limits $name -}}
{{- include "common.checkRequest" (dict "at" $at "name" $name "request" $quantity "limit" (get $limits $name)) -}}
{{- else if not (regexMatch "^(cpu|memory|ephemeral-storage)$" $name) -}}
{{- fail (printf "%s has no limit, and Kubernetes does not overcommit this resource: set it in limits only" $at) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
common.checkQuantity: fails for a resource that no container can have, and for an invalid quantity. Takes
(dict "at" <dotted key> "name" <resource> "quantity" <text or number>).
*/}}
{{- define "common.checkQuantity" -}}
{{- $text := ternary .quantity (toJson .quantity) (kindIs "string" .quantity) -}}
{{- $isOwn := regexMatch "^(cpu|memory|ephemeral-storage|hugepages-[1-9][0-9]*[KMG]i)$" .name -}}
{{- if not (or $isOwn (regexMatch "^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$" .name)) -}}
{{- fail (printf "%s: unknown resource %s; use cpu, memory, ephemeral-storage, hugepages-2Mi or those of devices, e.g. nvidia.com/gpu" .at (toRawJson .name)) -}}
{{- end -}}
{{- if not (regexMatch (include "common.quantityPattern" .) $text) -}}
{{- fail (printf "%s.%s is %s: write a quantity, e.g. 500m, 1.5 or 64Gi" .at .name (toRawJson $text)) -}}
{{- end -}}
{{- if not (or $isOwn (regexMatch "^[0-9]+$" $text)) -}}
{{- fail (printf "%s.%s is %s: devices are counted, write a whole number" .at .name (toRawJson $text)) -}}
{{- end -}}
{{- end -}}

{{/*
common.checkRequest: fails for a request above the limit, or below it where Kubernetes does not overcommit. Takes (dict
"at" <dotted key> "name" <resource> "request" <quantity> "limit" <quantity>).
*/}}
{{- define "common.checkRequest" -}}
{{- $request := include "common.thousandths" .request -}}
{{- $limit := include "common.thousandths" .limit -}}
{{- if and $request $limit -}}
{{- if gt (int64 $request) (int64 $limit) -}}
{{- fail (printf "%s is %v, which is more than the limit of %v: lower it, or raise the limit" .at .request .limit) -}}
{{- end -}}
{{- if and (ne $request $limit) (not (regexMatch "^(cpu|memory|ephemeral-storage)$" .name)) -}}
{{- fail (printf "%s is %v, but the limit is %v, and Kubernetes does not overcommit this resource: set it in limits only" .at .request .limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
common.thousandths: a quantity in thousandths, as an integer's text; empty if templates cannot calculate with its notation
or size. Takes the quantity.
*/}}
{{- define "common.thousandths" -}}
{{- $text := ternary . (toJson .) (kindIs "string" .) -}}
{{- $factors := dict "m" 1 "" 1000 "k" 1000000 "M" 1000000000 "G" 1000000000000 "T" 1000000000000000
    "Ki" 1024000 "Mi" 1048576000 "Gi" 1073741824000 "Ti" 1099511627776000 -}}
{{- if regexMatch "^(0|[1-9][0-9]{0,14})([.][0-9]{1,3})?(m|[kMGT]|[KMGT]i)?$" $text -}}
{{- $suffix := "" -}}
{{- range $one := keys $factors | sortAlpha -}}
{{- if and $one (hasSuffix $one $text) -}}
{{- $suffix = $one -}}
{{- end -}}
{{- end -}}
{{- $parts := splitList "." (trimSuffix $suffix $text) -}}
{{- $factor := get $factors $suffix | int64 -}}
{{- $whole := first $parts | int64 -}}
{{- if lt $whole (div 9223372036854775807 (mul $factor 2)) -}}
{{- $fraction := 0 -}}
{{- if gt (len $parts) 1 -}}
{{- /* A number that begins with 0 would be parsed as octal. */}}
{{- $digits := printf "%s00" (last $parts) | trunc 3 | trimPrefix "0" | trimPrefix "0" | int64 -}}
{{- $fraction = div (mul $digits $factor) 1000 -}}
{{- end -}}
{{- add (mul $whole $factor) $fraction -}}
{{- end -}}
{{- end -}}
{{- end -}}
