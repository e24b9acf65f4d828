"""The types of values in DeepSpeed's configuration, as far as pydantic refuses others.

Source: deepspeedai/DeepSpeed 1b88ac3 and 0.19.8 runtime/zero/config.py (DeepSpeedZeroConfig),
runtime/zero/offload_config.py (DeepSpeedZeroOffloadParamConfig, DeepSpeedZeroOffloadOptimizerConfig),
runtime/precision_config.py, monitor/config.py, comm/config.py, runtime/config.py (HybridEngineConfig,
get_communication_data_type) and runtime/lr_schedules.py; pydantic 2.14, conversion table.
"""

from __future__ import annotations

from trainyard.facts.programs.deepspeed import BATCH_KEYS

_STAGE3 = (
    "prefetch_bucket_size", "param_persistence_threshold", "model_persistence_threshold", "max_live_parameters",
    "max_reuse_distance", "module_granularity_threshold",
)  # fmt: skip
INTEGERS: dict[str, tuple[str, ...]] = {
    # Not by pydantic: runtime/config.py, _batch_assertion.
    "": BATCH_KEYS,
    "zero_optimization": (
        "reduce_bucket_size", "allgather_bucket_size", "sub_group_size", "zero_hpz_partition_size", "mics_shard_size",
        *_STAGE3, *(f"stage3_{name}" for name in _STAGE3),
    ),
    "zero_optimization.offload_param": ("buffer_count", "buffer_size", "max_in_cpu"),
    "zero_optimization.offload_optimizer": ("buffer_count",),
    "fp16": ("initial_scale_power", "loss_scale_window", "hysteresis", "min_loss_scale"),
    "comet": ("samples_log_interval",),
    "hybrid_engine": ("max_out_tokens", "inference_tp_size", "tp_gather_partition_size"),
}  # fmt: skip
# The fewest of these integers; the others are at least 0 if they stand in `INTEGERS` of a section of ZeRO.
POSITIVE = ("reduce_bucket_size", *BATCH_KEYS)
NUMBERS: dict[str, tuple[str, ...]] = {
    "fp16": ("loss_scale",),
    "zero_optimization.offload_optimizer": ("ratio", "cpuadam_cores_perc"),
}
# Numbers from 0 to 1.
SHARES = ("ratio", "cpuadam_cores_perc")
_ENABLED = ("enabled",)
BOOLEANS: dict[str, tuple[str, ...]] = {
    "zero_optimization": (
        "contiguous_gradients", "reduce_scatter", "use_multi_rank_bucket_allreduce", "allgather_partitions",
        "overlap_comm", "load_from_fp32_weights", "elastic_checkpoint", "cpu_offload_param",
        "cpu_offload_use_pin_memory", "cpu_offload", "gather_16bit_weights_on_model_save",
        "stage3_gather_16bit_weights_on_model_save", "stage3_gather_fp16_weights_on_model_save",
        "use_all_reduce_for_fetch_params", "stage3_use_all_reduce_for_fetch_params", "ignore_unused_parameters",
        "legacy_stage1", "round_robin_gradients", "zero_quantized_weights", "zero_quantized_nontrainable_weights",
        "zero_quantized_gradients", "memory_efficient_linear", "pipeline_loading_checkpoint", "override_module_apply",
        "mics_hierarchical_params_gather", "log_trace_cache_warnings",
    ),
    "zero_optimization.offload_param": ("pin_memory",),
    "zero_optimization.offload_optimizer": ("pin_memory", "pipeline_read", "pipeline_write", "fast_init"),
    "fp16": ("enabled", "auto_cast", "consecutive_hysteresis", "fp16_master_weights_and_grads"),
    "bf16": ("enabled", "immediate_grad_update", "check_grad_overflow", "bf16_master_weights_and_grads"),
    "tensorboard": _ENABLED,
    "wandb": _ENABLED,
    "csv_monitor": _ENABLED,
    "comet": _ENABLED,
    "comms_logger": ("enabled", "prof_all", "verbose", "debug"),
    "hybrid_engine": ("enabled", "release_inference_cache", "pin_parameters"),
}  # fmt: skip
# Words that pydantic reads as booleans, in any case.
TRUE_OR_FALSE = ("true", "false", "t", "f", "yes", "no", "y", "n", "on", "off", "1", "0")
OBJECTS: dict[str, tuple[str, ...]] = {
    "": ("optimizer", "scheduler", "fp16", "bf16", "amp", "activation_checkpointing", "aio", "elasticity",
         "tensorboard", "wandb", "csv_monitor", "comet", "comms_logger", "hybrid_engine"),
    "zero_optimization": ("offload_param", "offload_optimizer"),
}  # fmt: skip
# Numbers that Python compares as they are: `"1.0" > 0.0` raises a TypeError.
COMPARED = ("gradient_clipping",)
WORDS: dict[str, dict[str, tuple[object, ...]]] = {
    "zero_optimization": {"stage": (0, 1, 2, 3)},
    "zero_optimization.offload_param": {"device": ("none", "cpu", "nvme")},
    "zero_optimization.offload_optimizer": {"device": ("none", "cpu", "nvme")},
}
# Words in any case.
ANY_CASE: dict[str, dict[str, tuple[str, ...]]] = {
    "": {"communication_data_type": ("fp16", "bf16", "fp32")},
    "checkpoint": {"tag_validation": ("ignore", "warn", "fail")},
}

# Parameters of the schedulers, and those without a default (runtime/lr_schedules.py).
_WARMUP = ("warmup_min_lr", "warmup_max_lr", "warmup_num_steps", "warmup_type", "last_batch_iteration")
SCHEDULERS: dict[str, tuple[str, ...]] = {
    "WarmupLR": _WARMUP,
    "WarmupDecayLR": ("total_num_steps", *_WARMUP),
    "WarmupCosineLR": (
        "total_num_steps", "warmup_min_ratio", "warmup_num_steps", "cos_min_ratio", "warmup_type",
        "last_batch_iteration",
    ),
    "LRRangeTest": (
        "lr_range_test_min_lr", "lr_range_test_step_size", "lr_range_test_step_rate", "lr_range_test_staircase",
        "last_batch_iteration",
    ),
    "OneCycle": (
        "cycle_min_lr", "cycle_max_lr", "decay_lr_rate", "cycle_first_step_size", "cycle_second_step_size",
        "cycle_first_stair_count", "cycle_second_stair_count", "decay_step_size", "cycle_momentum", "cycle_min_mom",
        "cycle_max_mom", "decay_mom_rate", "last_batch_iteration",
    ),
}  # fmt: skip
REQUIRED = {
    "WarmupDecayLR": ("total_num_steps",),
    "WarmupCosineLR": ("total_num_steps",),
    "OneCycle": ("cycle_min_lr", "cycle_max_lr"),
}
# Parameters of Adam and AdamW, of DeepSpeed's own and of PyTorch's (runtime/engine.py: _configure_basic_optimizer).
ADAM = (
    "lr", "betas", "eps", "weight_decay", "bias_correction", "amsgrad", "set_grad_none", "torch_adam", "adam_w_mode",
    "adamw_mode", "fp32_optimizer_states", "capturable", "foreach", "maximize", "fused", "differentiable",
    "decoupled_weight_decay",
)  # fmt: skip
PARAMETER_TEXTS = ("warmup_type",)
