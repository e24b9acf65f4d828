{{/*
The user of the pods, who has no entry in the image's /etc/passwd and no home.
*/}}

{{/*
training-job.userEnv: variables that stand for that entry, as YAML, unless the values set them. The home is the volume
for scratch data or /tmp, where libraries put their caches. Without USER, Python's getpass.getuser() fails, and
TorchInductor before PyTorch 2.13 with it (pytorch/pytorch#184208). TorchInductor's cache would be in /tmp in any case.
Takes the root context.
*/}}
{{- define "training-job.userEnv" -}}
{{- $scratch := .Values.scratch -}}
{{- $hasScratch := and $scratch.enabled (ne ($scratch.medium | default "") "Memory") -}}
{{- $home := ternary (trimSuffix "/" $scratch.mountPath) "/tmp" $hasScratch -}}
{{- $variables := dict "HOME" $home "USER" "trainer" "LOGNAME" "trainer" -}}
{{- if $hasScratch -}}
{{- $_ := set $variables "TORCHINDUCTOR_CACHE_DIR" (printf "%s/torchinductor" $home) -}}
{{- end -}}
{{- range $name, $value := $variables -}}
{{- $isSet := or (hasKey $.Values.env $name) (hasKey $.Values.envSecrets $name) (hasKey ($.Values.fabric.env | default dict) $name) -}}
{{- if not $isSet }}
{{ $name }}: {{ $value | quote }}
{{- end -}}
{{- end -}}
{{- end -}}
