{{/*
DeepSpeed's configuration. Keys as in deepspeed 0.19.8 (runtime/config.py, runtime/zero/config.py, offload_config.py);
tests/charts/test_launchers.py loads it with DeepSpeed's own classes.
*/}}

{{/* training-job.deepspeedPath: where the program finds the configuration. */}}
{{- define "training-job.deepspeedPath" -}}
/etc/trainyard/deepspeed.json
{{- end -}}

{{/*
training-job.deepspeedWorld: the number of processes over which a batch is split, or "" where it is known only at run
time: torchrun counts devices, an elastic run changes its size, or the configuration splits the model as well.
*/}}
{{- define "training-job.deepspeedWorld" -}}
{{- $splits := false -}}
{{- range $key := list "tensor_parallel" "sequence_parallel_size" "pipeline" "expert_parallel" -}}
{{- if hasKey ($.Values.deepspeed.config | default dict) $key -}}
{{- $splits = true -}}
{{- end -}}
{{- end -}}
{{- if not (or $splits .Values.elastic.enabled (kindIs "string" .Values.processesPerNode)) -}}
{{- mul .Values.nodes (include "training-job.processes" . | int64) -}}
{{- end -}}
{{- end -}}

{{/* training-job.deepspeedBatch: the three batch sizes, which DeepSpeed holds against each other, as JSON. */}}
{{- define "training-job.deepspeedBatch" -}}
{{- $deepspeed := .Values.deepspeed -}}
{{- $micro := int64 $deepspeed.microBatchPerGpu -}}
{{- $steps := int64 $deepspeed.gradientAccumulation -}}
{{- $batch := dict "train_micro_batch_size_per_gpu" $micro "gradient_accumulation_steps" $steps -}}
{{- with include "training-job.deepspeedWorld" . -}}
{{- $_ := set $batch "train_batch_size" (mul $micro $steps (int64 .)) -}}
{{- end -}}
{{- toJson $batch -}}
{{- end -}}

{{/* training-job.deepspeedZero: the ZeRO stage and where its states are kept, as JSON. */}}
{{- define "training-job.deepspeedZero" -}}
{{- $deepspeed := .Values.deepspeed -}}
{{- $zero := dict "stage" (int64 $deepspeed.zeroStage) -}}
{{- $offloads := dict "offload_optimizer" $deepspeed.offload.optimizer "offload_param" $deepspeed.offload.params -}}
{{- range $key, $device := $offloads -}}
{{- if ne $device "none" -}}
{{- $offload := dict "device" $device -}}
{{- if eq $device "nvme" -}}
{{- $_ := set $offload "nvme_path" $deepspeed.scratch.mountPath -}}
{{- end -}}
{{- $_ := set $zero $key $offload -}}
{{- end -}}
{{- end -}}
{{- toJson $zero -}}
{{- end -}}

{{/*
training-job.deepspeedConfig: the file, `deepspeed.config` over what follows from other values. A batch size of `auto`
is for Transformers or Accelerate to fill in, and then all three are: a number beside it would be held against theirs.
*/}}
{{- define "training-job.deepspeedConfig" -}}
{{- $config := deepCopy (.Values.deepspeed.config | default dict) -}}
{{- $batch := include "training-job.deepspeedBatch" . | fromYaml -}}
{{- $zero := include "training-job.deepspeedZero" . | fromYaml -}}
{{- $sizes := list "train_batch_size" "train_micro_batch_size_per_gpu" "gradient_accumulation_steps" -}}
{{- $isAuto := false -}}
{{- range $key := $sizes -}}
{{- if eq (get $config $key | toString) "auto" -}}
{{- $isAuto = true -}}
{{- end -}}
{{- end -}}
{{- if $isAuto -}}
{{- range $key := $sizes -}}
{{- $_ := set $batch $key "auto" -}}
{{- end -}}
{{- end -}}
{{- merge $config $batch (dict "zero_optimization" $zero) | toRawJson -}}
{{- end -}}

{{/* training-job.usesScratch: "true" when states are kept on the scratch volume, or "". */}}
{{- define "training-job.usesScratch" -}}
{{- $offload := .Values.deepspeed.offload -}}
{{- if and (include "training-job.usesDeepSpeed" .) (has "nvme" (list $offload.optimizer $offload.params)) -}}
true
{{- end -}}
{{- end -}}

{{/* training-job.checkDeepSpeed: fails where two values contradict each other, or DeepSpeed would not do what they say. */}}
{{- define "training-job.checkDeepSpeed" -}}
{{- $deepspeed := .Values.deepspeed -}}
{{- $config := $deepspeed.config | default dict -}}
{{- $stage := int $deepspeed.zeroStage -}}
{{- if not (include "training-job.usesDeepSpeed" .) -}}
{{- $kept := list $deepspeed.offload.optimizer $deepspeed.offload.params | uniq | join "" -}}
{{- if or $config (gt $stage 0) (ne $kept "none") -}}
{{- $advice := "set launcher to deepspeed, or accelerate.config.distributed_type to DEEPSPEED" -}}
{{- fail (printf "deepspeed: launcher %s does not read it; %s" .Values.launcher $advice) -}}
{{- end -}}
{{- else -}}
{{- $offload := $deepspeed.offload -}}
{{- if and (ne $offload.optimizer "none") (lt $stage (ternary 3 1 (eq $offload.optimizer "nvme"))) -}}
{{- $least := ternary "3" "1, 2 or 3" (eq $offload.optimizer "nvme") -}}
{{- fail (printf "deepspeed.offload.optimizer: %s requires deepspeed.zeroStage %s" $offload.optimizer $least) -}}
{{- end -}}
{{- if and (ne $offload.params "none") (ne $stage 3) -}}
{{- fail (printf "deepspeed.offload.params: %s requires deepspeed.zeroStage 3" $offload.params) -}}
{{- end -}}
{{- include "training-job.checkDeepSpeedConfig" . -}}
{{- end -}}
{{- end -}}

{{/* training-job.checkDeepSpeedConfig: what the configuration repeats of other values must say the same. */}}
{{- define "training-job.checkDeepSpeedConfig" -}}
{{- $config := .Values.deepspeed.config | default dict -}}
{{- $owners := dict "train_micro_batch_size_per_gpu" "deepspeed.microBatchPerGpu" "gradient_accumulation_steps"
    "deepspeed.gradientAccumulation" -}}
{{- $batch := include "training-job.deepspeedBatch" . | fromYaml -}}
{{- range $key, $size := $batch -}}
{{- $given := get $config $key -}}
{{- if and (hasKey $config $key) (ne (toString $given) "auto") (ne (int64 $given) (int64 $size)) -}}
{{- $product := "deepspeed.microBatchPerGpu x deepspeed.gradientAccumulation x nodes x processesPerNode" -}}
{{- $owner := get $owners $key | default $product -}}
{{- fail (printf "deepspeed.config.%s is %v, but %s says %d: remove it" $key $given $owner (int64 $size)) -}}
{{- end -}}
{{- end -}}
{{- if and (hasKey $config "train_batch_size") (not (hasKey $batch "train_batch_size")) .Values.elastic.enabled -}}
{{- fail "deepspeed.config.train_batch_size: an elastic run changes its number of processes; remove it" -}}
{{- end -}}
{{- $zero := get $config "zero_optimization" | default dict -}}
{{- if not (kindIs "map" $zero) -}}
{{- fail "deepspeed.config.zero_optimization must be a mapping; set the stage in deepspeed.zeroStage" -}}
{{- end -}}
{{- $stage := int64 .Values.deepspeed.zeroStage -}}
{{- if and (hasKey $zero "stage") (ne (int64 $zero.stage) $stage) -}}
{{- $reason := printf "but deepspeed.zeroStage %d: remove it" $stage -}}
{{- fail (printf "deepspeed.config.zero_optimization.stage is %v, %s" $zero.stage $reason) -}}
{{- end -}}
{{- $offload := .Values.deepspeed.offload -}}
{{- range $key, $value := dict "offload_optimizer" "optimizer" "offload_param" "params" -}}
{{- $device := get $offload $value -}}
{{- $given := get (get $zero $key | default dict) "device" | default $device -}}
{{- if ne $given $device -}}
{{- $advice := printf "but deepspeed.offload.%s %s: write it there alone" $value $device -}}
{{- fail (printf "deepspeed.config.zero_optimization.%s.device is %v, %s" $key $given $advice) -}}
{{- end -}}
{{- end -}}
{{- end -}}
