"""The types of values in DeepSpeed's configuration, as far as pydantic refuses others.

Source: deepspeedai/DeepSpeed 1b88ac3 runtime/zero/config.py (DeepSpeedZeroConfig) and
runtime/zero/offload_config.py (DeepSpeedZeroOffloadParamConfig, DeepSpeedZeroOffloadOptimizerConfig).
"""

from __future__ import annotations

_STAGE3 = (
    "prefetch_bucket_size", "param_persistence_threshold", "model_persistence_threshold", "max_live_parameters",
    "max_reuse_distance", "module_granularity_threshold",
)  # fmt: skip
INTEGERS: dict[str, tuple[str, ...]] = {
    "zero_optimization": (
        "reduce_bucket_size", "allgather_bucket_size", "sub_group_size", "zero_hpz_partition_size", "mics_shard_size",
        *_STAGE3, *(f"stage3_{name}" for name in _STAGE3),
    ),
    "zero_optimization.offload_param": ("buffer_count", "buffer_size", "max_in_cpu"),
    "zero_optimization.offload_optimizer": ("buffer_count",),
}  # fmt: skip
OBJECTS: dict[str, tuple[str, ...]] = {
    "": ("optimizer", "scheduler", "fp16", "bf16", "amp", "activation_checkpointing", "aio", "elasticity"),
    "zero_optimization": ("offload_param", "offload_optimizer"),
}
# Numbers that Python compares as they are: `"1.0" > 0.0` raises a TypeError.
COMPARED = ("gradient_clipping",)
WORDS: dict[str, dict[str, tuple[object, ...]]] = {
    "zero_optimization": {"stage": (0, 1, 2, 3)},
    "zero_optimization.offload_param": {"device": ("none", "cpu", "nvme")},
    "zero_optimization.offload_optimizer": {"device": ("none", "cpu", "nvme")},
}
