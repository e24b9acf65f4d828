"""The words for true and false that programs of Hugging Face read, in any case.

Sources: huggingface/transformers 5.23.0 hf_argparser.py: string_to_bool (arguments); huggingface/huggingface_hub
src/huggingface_hub/constants.py: ENV_VARS_TRUE_VALUES (variables, of which all other words are false);
huggingface/accelerate 1.15.0 utils/environment.py: str_to_bool.
"""

from __future__ import annotations

ARGUMENT_TRUE = ("yes", "true", "t", "y", "1")
ARGUMENT_FALSE = ("no", "false", "f", "n", "0")
VARIABLE_TRUE = ("1", "on", "yes", "true")
VARIABLE_FALSE = ("0", "off", "no", "false", "")
# Accelerate reads these in its file, its options and its variables.
SWITCH_WORDS = ("y", "yes", "t", "true", "on", "1", "n", "no", "f", "false", "off", "0")

# Arguments of TrainingArguments that a release removed, with dashes, and what took their place.
# Source: huggingface/transformers MIGRATION_GUIDE_V5.md: Trainer; 4.41.0 and 4.46.0 training_args.py.
# The first release that refuses `auto_find_batch_size` with ZeRO stage 3 (pull 29058).
BATCH_SEARCH_CHECKED = (4, 39)
# Releases 5.0 and 5.1 still take the last two, with "deprecated and will be removed in v5.2"; 5.23 does not.
_EARLIER = {
    "--evaluation-strategy": ((4, 46), "--eval_strategy"),
    "--warmup-ratio": ((5, 23), "--warmup_steps, which takes a share"),
    "--logging-dir": ((5, 23), "the variable TENSORBOARD_LOGGING_DIR"),
}
_IN_5 = {
    "--overwrite-output-dir": "", "--jit-mode-eval": "",
    "--mp-parameters": "", "--past-index": "",
    "--tpu-num-cores": "the variable TPU_NUM_CORES", "--ray-scope": "the variable RAY_SCOPE",
    "--fsdp-min-num-params": "--fsdp_config", "--fsdp-transformer-layer-cls-to-wrap": "--fsdp_config",
    "--tpu-metrics-debug": "--debug", "--push-to-hub-token": "--hub_token",
    "--push-to-hub-model-id": "--hub_model_id", "--push-to-hub-organization": "--hub_model_id",
    "--include-inputs-for-metrics": "--include_for_metrics",
    "--per-gpu-train-batch-size": "--per_device_train_batch_size",
    "--per-gpu-eval-batch-size": "--per_device_eval_batch_size", "--use-mps-device": "", "--fp16-backend": "",
    "--half-precision-backend": "", "--no-cuda": "--use_cpu", "--use-legacy-prediction-loop": "",
    "--include-tokens-per-second": "--include_num_input_tokens_seen",
}  # fmt: skip
REMOVED_ARGUMENTS = {**_EARLIER, **{name: ((5,), present) for name, present in _IN_5.items()}}
# An argument that came late: releases before it refuse it.
LATE_ARGUMENTS = {"--eval-strategy": ((4, 41), "--evaluation_strategy")}
