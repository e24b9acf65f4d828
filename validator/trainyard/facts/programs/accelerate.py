"""Keys and words of Accelerate's configuration.

Source: huggingface/accelerate 16cb6eb src/accelerate/commands/config/config_args.py (ClusterConfig, process_config),
utils/dataclasses.py (DistributedType, PrecisionType) and utils/constants.py (FSDP_*). Keys and types of former releases
are among them, because the image may have one.
"""

from __future__ import annotations

_FORMER = ("fp16", "dynamo_backend", "ipex_config", "tp_config", "use_xpu", "aws", "sagemaker_config")
KEYS = frozenset((
    "compute_environment", "distributed_type", "mixed_precision", "use_cpu", "debug", "num_processes", "machine_rank",
    "num_machines", "gpu_ids", "main_process_ip", "main_process_port", "rdzv_backend", "same_network",
    "main_training_function", "enable_cpu_affinity", "fp8_config", "deepspeed_config", "fsdp_config",
    "parallelism_config", "megatron_lm_config", "mpirun_config", "downcast_bf16", "tpu_name", "tpu_zone",
    "tpu_use_cluster", "tpu_use_sudo", "command_file", "commands", "tpu_vm", "tpu_env", "dynamo_config", *_FORMER,
))  # fmt: skip
TYPES = (
    "NO", "MULTI_CPU", "MULTI_GPU", "MULTI_NPU", "MULTI_MLU", "MULTI_SDAA", "MULTI_MUSA", "MULTI_XPU", "MULTI_HPU",
    "MULTI_NEURON", "DEEPSPEED", "FSDP", "XLA", "MEGATRON_LM", "TPU", "TP",
)  # fmt: skip
MIXED = ("no", "fp16", "bf16", "fp8")
FSDP_WORDS: dict[str, tuple[str, ...]] = {
    "fsdp_sharding_strategy": ("FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2"),
    "fsdp_auto_wrap_policy": ("TRANSFORMER_BASED_WRAP", "SIZE_BASED_WRAP", "NO_WRAP"),
    "fsdp_backward_prefetch": ("BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"),
    "fsdp_state_dict_type": ("FULL_STATE_DICT", "LOCAL_STATE_DICT", "SHARDED_STATE_DICT"),
}
# Keys that are read with `int`, each of which also refuses a decimal point in a text.
INTEGERS = ("num_processes", "num_machines", "machine_rank", "main_process_port")
FSDP_INTEGERS = ("fsdp_min_num_params",)
SWITCHES = ("use_cpu", "same_network", "debug", "tpu_use_cluster", "tpu_use_sudo", "enable_cpu_affinity")
FSDP_SWITCHES = (
    "fsdp_offload_params", "fsdp_use_orig_params", "fsdp_sync_module_states", "fsdp_cpu_ram_efficient_loading",
    "fsdp_forward_prefetch", "fsdp_activation_checkpointing",
)  # fmt: skip
# The options of `accelerate launch` for FSDP of all releases.
FSDP_KEYS = (
    "fsdp_activation_checkpointing", "fsdp_activation_checkpointing_offload", "fsdp_auto_wrap_policy",
    "fsdp_backward_prefetch", "fsdp_backward_prefetch_policy", "fsdp_cpu_ram_efficient_loading",
    "fsdp_forward_prefetch", "fsdp_min_num_params", "fsdp_offload_params", "fsdp_reshard_after_forward",
    "fsdp_sharding_strategy", "fsdp_state_dict_type", "fsdp_sync_module_states",
    "fsdp_transformer_layer_cls_to_wrap", "fsdp_use_orig_params", "fsdp_version",
)  # fmt: skip
