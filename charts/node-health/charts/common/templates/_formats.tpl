{{/*
Formats that Kubernetes requires of text. Without the check it would refuse the run's object with the path of a field that
is in no values file, or accept the object and refuse each pod that the operator then creates.
*/}}

{{/*
common.formats: the formats (pattern, greatest length, advice) and the values that each applies to. A `*` is every entry
of a list or mapping, a `@` every key of a mapping.
*/}}
{{- define "common.formats" -}}
name:
  pattern: ^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$
  longest: 253
  advice: write the name of an object, which has only a-z, 0-9, - and ., e.g. team-data
  values:
    - image.pullSecrets.*
    - envSecrets.*.secret
    - envFrom.configMaps.*
    - envFrom.secrets.*
    - serviceAccount.name
    - checkpoints.existingClaim
    - checkpoints.storageClassName
    - scratch.storageClassName
    - volumes.*.claim
    - volumes.*.create.storageClassName
    - volumes.*.ephemeral.storageClassName
    - volumes.*.configMap.name
    - volumes.*.secret.name
    - dataset.*.*.secret
    - dataset.claim.name
    - flightRecorder.existingClaim
    - fabric.topologyFile.configMap
    - placement.priorityClassName
    - placement.runtimeClassName
    - placement.schedulerName
    - scheduling.gang.schedulerName
    - scheduling.gang.queue
    - scheduling.gang.priorityClassName
    - resourceClaims.*.resourceClaimName
    - resourceClaims.*.resourceClaimTemplateName
shortName:
  pattern: ^[a-z0-9]([-a-z0-9]*[a-z0-9])?$
  longest: 63
  advice: write a name of a-z, 0-9 and - with at most 63 characters, e.g. gpu
  values:
    - resourceClaims.*.name
    - resourceClaims.*.request
key:
  pattern: ^[-._a-zA-Z0-9]+$
  longest: 253
  advice: write a key of the Secret or ConfigMap, which has only letters, digits, -, _ and .
  values:
    - envSecrets.*.key
    - dataset.*.*.key
    - fabric.topologyFile.key
    - volumes.*.configMap.items.@
    - volumes.*.secret.items.@
variable:
  pattern: ^[A-Za-z_][A-Za-z0-9_]*$
  longest: 253
  advice: write the name of a variable, which has only letters, digits and _, e.g. HF_TOKEN
  values:
    - envSecrets.@
    - mpi.imageVariables.*
labelKey:
  pattern: ^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$
  longest: 317
  advice: write a label's key, e.g. team or example.com/rack
  values:
    - podLabels.@
    - jobLabels.@
    - metrics.labels.@
    - networkPolicy.allow.*.podLabels.@
    - networkPolicy.allow.*.namespaceLabels.@
    - networkPolicy.egress.allow.*.podLabels.@
    - networkPolicy.egress.allow.*.namespaceLabels.@
    - placement.nodeSelector.@
    - placement.colocate.level
    - placement.healthLabels.forbidden.*
    - placement.healthLabels.required.@
    - placement.topologySpread.*.topologyKey
    - placement.topologySpread.*.matchLabelKeys.*
    - placement.topologySpread.*.labelSelector.matchLabels.@
    - placement.tolerations.*.key
    - scheduling.queue.topology.level
    - scheduling.queue.topology.sliceLevel
annotationKey:
  pattern: ^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$
  longest: 317
  advice: write an annotation's key, e.g. owner or example.com/owner
  values:
    - podAnnotations.@
    - jobAnnotations.@
    - serviceAccount.annotations.@
labelValue:
  pattern: ^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$
  longest: 63
  advice: a label's value has at most 63 letters, digits, -, _ and ., the first and last of them a letter or digit
  values:
    - podLabels.*
    - jobLabels.*
    - metrics.labels.*
    - networkPolicy.allow.*.podLabels.*
    - networkPolicy.allow.*.namespaceLabels.*
    - networkPolicy.egress.allow.*.podLabels.*
    - networkPolicy.egress.allow.*.namespaceLabels.*
    - placement.nodeSelector.*
    - placement.healthLabels.required.*.*
    - placement.topologySpread.*.labelSelector.matchLabels.*
    - placement.tolerations.*.value
path:
  pattern: ^([^/.]|[.][^/.])([^/]|/[^/.]|/[.][^/.])*$
  longest: 4096
  advice: write a path inside the volume, without .. and without / at its beginning, e.g. config/train.yaml
  values:
    - volumes.*.configMap.items.*
    - volumes.*.secret.items.*
folder:
  pattern: ^(/[^/.][^/]*|/[.][^/.][^/]*|/[.][.][^/]+)*/?$
  longest: 4096
  advice: write the path of a folder on the node, without .., e.g. /mnt/data
  values:
    - volumes.*.hostPath.path
    - fabric.mounts.*.hostPath
mountPath:
  pattern: ^(/([^/.:][^/:]*|[.][^/.:][^/:]*|[.][.][^/:]+))+/?$
  longest: 4096
  advice: write an absolute path without .. and without a colon, e.g. /checkpoints
  values:
    - checkpoints.mountPath
    - deepspeed.scratch.mountPath
    - fabric.mounts.*.mountPath
    - flightRecorder.mountPath
    - scratch.mountPath
    - volumes.*.mountPath
range:
  pattern: ^(((25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])[./]){4}(3[0-2]|[12]?[0-9])|[0-9a-fA-F:]*:[0-9a-fA-F:]*/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))$
  longest: 63
  advice: write a range of addresses, e.g. 10.0.0.0/8
  values:
    - networkPolicy.allow.*.cidr
    - networkPolicy.egress.allow.*.cidr
repository:
  pattern: ^[A-Za-z0-9]([-A-Za-z0-9_.]*(:[0-9]+)?(/[a-z0-9]([-a-z0-9_.]*[a-z0-9])?)*)$
  longest: 255
  advice: write an image without its tag, e.g. registry.example.com/team/trainer
  values:
    - image.repository
tag:
  pattern: ^[A-Za-z0-9_][-A-Za-z0-9_.]*$
  longest: 128
  advice: write a tag of letters, digits, -, _ and ., e.g. 2026.11
  values:
    - image.tag
image:
  pattern: ^[A-Za-z0-9]([-A-Za-z0-9_.]*(:[0-9]+)?(/[a-z0-9]([-a-z0-9_.]*[a-z0-9])?)*)(:[A-Za-z0-9_][-A-Za-z0-9_.]*)?(@sha256:[0-9a-f]{64})?$
  longest: 512
  advice: write an image, e.g. registry.example.com/tools/tensorboard:2.20
  values:
    - dataset.image
    - tensorboard.image
    - fabric.tcpxo.daemonImage
quantity:
  pattern: {{ include "common.quantityPattern" . }}
  longest: 24
  advice: write a quantity, e.g. 500m, 1.5 or 64Gi
  values:
    - scheduling.gang.minResources.*
{{- end -}}

{{/* common.checkFormats: fails for a value that does not match its format. Takes the root context. */}}
{{- define "common.checkFormats" -}}
{{- range $format := include "common.formats" . | fromYaml -}}
{{- range $format.values -}}
{{- include "common.checkFormat" (dict "value" $.Values "steps" (splitList "." .) "name" "" "format" $format
    "isItem" false) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/*
common.checkFormat: follows the remaining steps of a path from a value. Takes (dict "value" <value> "steps" <list>
"name" <dotted key so far> "format" <entry of common.formats> "isItem" <true for an item of a list: any other value may
be empty>). Keys are followed in a loop: a template for each step would take a third of the time in which a run renders.
*/}}
{{- define "common.checkFormat" -}}
{{- $at := . -}}
{{- $value := .value -}}
{{- $name := .name -}}
{{- $isItem := .isItem -}}
{{- $left := list -}}
{{- range $index, $step := .steps -}}
{{- if not $left -}}
{{- if or (eq $step "*") (eq $step "@") -}}
{{- $left = slice $at.steps $index -}}
{{- else -}}
{{- if kindIs "map" $value -}}
{{- $value = get $value $step -}}
{{- else -}}
{{- $value = "" -}}
{{- end -}}
{{- $name = printf "%s.%s" $name $step | trimPrefix "." -}}
{{- $isItem = false -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if not $left -}}
{{- if and (or $value $isItem) (not (kindIs "map" $value)) -}}
{{- $text := ternary $value (toJson $value) (kindIs "string" $value) -}}
{{- if not (and (regexMatch .format.pattern $text) (le (len $text) (int .format.longest))) -}}
{{- fail (printf "%s is %s: %s" $name (toRawJson $text) .format.advice) -}}
{{- end -}}
{{- end -}}
{{- else if eq (first $left) "*" -}}
{{- $isMap := kindIs "map" $value -}}
{{- if or $isMap (kindIs "slice" $value) -}}
{{- range $key, $item := $value -}}
{{- $itemName := ternary (printf "%s.%v" $name $key) (printf "%s[%v]" $name $key) $isMap -}}
{{- include "common.checkFormat" (dict "value" $item "steps" (rest $left) "name" $itemName
    "format" $at.format "isItem" (not $isMap)) -}}
{{- end -}}
{{- end -}}
{{- else if kindIs "map" $value -}}
{{- range $key := keys $value | sortAlpha -}}
{{- if not (and (regexMatch $at.format.pattern $key) (le (len $key) (int $at.format.longest))) -}}
{{- fail (printf "%s has the key %s: %s" $name (toRawJson $key) $at.format.advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
