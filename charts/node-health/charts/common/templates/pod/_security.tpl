{{/*
common.checkSecurity: fails for security contexts with which Kubernetes refuses every pod (v1.34.4,
pkg/apis/core/validation/validation.go: ValidateSecurityContext, validateSeccompProfileField). Takes the root context.
*/}}
{{- define "common.checkSecurity" -}}
{{- $security := .Values.securityContext | default dict -}}
{{- if eq (toString $security.allowPrivilegeEscalation) "false" -}}
{{- $needs := "always escalates its privileges: set securityContext.allowPrivilegeEscalation to true" -}}
{{- if $security.privileged -}}
{{- fail (printf "securityContext.privileged: such a container %s, or remove privileged" $needs) -}}
{{- end -}}
{{- $added := concat (($security.capabilities | default dict).add | default list) (.Values.fabric.capabilities | default list) -}}
{{- range list "SYS_ADMIN" "CAP_SYS_ADMIN" -}}
{{- if has . $added -}}
{{- fail (printf "securityContext.capabilities: a container with %s %s, or remove it" . $needs) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- range $path := list "podSecurityContext" "securityContext" -}}
{{- range $field := list "seccompProfile" "appArmorProfile" -}}
{{- with get (get $.Values $path | default dict) $field -}}
{{- $isLocal := eq (toString .type) "Localhost" -}}
{{- if ne $isLocal (not (empty .localhostProfile)) -}}
{{- fail (printf "%s.%s: localhostProfile and type Localhost require each other: set both" $path $field) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
