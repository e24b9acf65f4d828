"""DeepSpeed's configuration: the keys of each section, and the batch sizes of its elastic mode.

Source: deepspeedai/DeepSpeed releases 0.10.3, 0.12.6, 0.14.4, 0.15.4, 0.16.9, 0.17.6, 0.18.0, 0.19.6 and 0.19.8, all
together, so that a key that any of them knows is accepted. `SECTIONS`: fields and aliases of the classes derived from
DeepSpeedConfigModel, which refuse other keys. `TOP_LEVEL`: runtime/config.py and the modules that it calls, which
ignore other keys.
"""

from __future__ import annotations

import math
from typing import Any

from trainyard.document.lookup import integer, mapping

SECTIONS: dict[str, tuple[str, ...]] = {
    "zero_optimization": (
        "stage", "contiguous_gradients", "reduce_scatter", "reduce_bucket_size", "use_multi_rank_bucket_allreduce",
        "allgather_partitions", "allgather_bucket_size", "overlap_comm", "compute_grad_norm", "load_from_fp32_weights",
        "elastic_checkpoint", "offload_param", "offload_optimizer", "zenflow", "sub_group_size", "cpu_offload_param",
        "cpu_offload_use_pin_memory", "cpu_offload", "prefetch_bucket_size", "stage3_prefetch_bucket_size",
        "param_persistence_threshold", "stage3_param_persistence_threshold", "model_persistence_threshold",
        "stage3_model_persistence_threshold", "max_live_parameters", "stage3_max_live_parameters",
        "max_reuse_distance", "stage3_max_reuse_distance", "gather_16bit_weights_on_model_save",
        "stage3_gather_16bit_weights_on_model_save", "module_granularity_threshold",
        "stage3_module_granularity_threshold", "use_all_reduce_for_fetch_params",
        "stage3_use_all_reduce_for_fetch_params", "allgather_sequential", "stage3_allgather_sequential",
        "stage3_gather_fp16_weights_on_model_save", "ignore_unused_parameters", "legacy_stage1",
        "round_robin_gradients", "parameter_alignment", "zero_hpz_partition_size", "zero_quantized_weights",
        "zero_quantized_nontrainable_weights", "zero_quantized_gradients", "memory_efficient_linear",
        "pipeline_loading_checkpoint", "override_module_apply", "log_trace_cache_warnings", "enable_sanity_checks",
        "save_muon_momentum_buffer_in_memory", "leaf_module", "zeropp_loco_param", "mics_shard_size",
        "mics_hierarchical_params_gather", "partition_stream_chunk_size", "stage3_partition_stream_chunk_size",
    ),
    "zero_optimization.offload_param": (
        "device", "nvme_path", "buffer_count", "buffer_size", "max_in_cpu", "pin_memory",
    ),
    "zero_optimization.offload_optimizer": (
        "device", "nvme_path", "buffer_count", "pin_memory", "pipeline_read", "pipeline_write", "fast_init", "ratio",
        "super_offload", "cpuadam_cores_perc", "convert_grad_on_cpu",
    ),
    "zero_optimization.zenflow": (
        "topk_ratio", "select_strategy", "select_interval", "update_interval", "overlap_step", "offload", "auto_ratio",
        "full_warm_up_rounds", "pt_reserved_cores_perc", "steps_per_epoch",
    ),
    "zero_optimization.leaf_module": (
        "classes", "names", "name_suffixes",
    ),
    "fp16": (
        "enabled", "auto_cast", "loss_scale", "initial_scale_power", "loss_scale_window", "hysteresis",
        "consecutive_hysteresis", "min_loss_scale", "fp16_master_weights_and_grads",
    ),
    "bf16": (
        "enabled", "immediate_grad_update", "check_grad_overflow", "bf16_master_weights_and_grads",
        "bf16_optimizer_states",
    ),
    "tensorboard": (
        "enabled", "output_path", "job_name",
    ),
    "wandb": (
        "enabled", "group", "team", "project",
    ),
    "csv_monitor": (
        "enabled", "output_path", "job_name",
    ),
    "comet": (
        "enabled", "samples_log_interval", "project", "workspace", "api_key", "experiment_name", "experiment_key",
        "online", "mode",
    ),
    "comms_logger": (
        "enabled", "prof_all", "prof_ops", "verbose", "debug",
    ),
    "compile": (
        "deepcompile", "autoep_non_moe", "free_activation", "free_activation_threshold", "offload_activation",
        "offload_activation_pin_memory", "offload_opt_states", "double_buffer", "symmetric_memory", "debug_log",
        "offload_parameters", "sync_before_reduce", "sync_after_reduce", "sync_before_allgather",
        "sync_after_allgather", "keep_int_input_tensors", "keep_all_input_tensors", "passes",
    ),
    "hybrid_engine": (
        "enabled", "max_out_tokens", "inference_tp_size", "release_inference_cache", "pin_parameters",
        "tp_gather_partition_size", "enable_cuda_graph",
    ),
    "tensor_parallel": (
        "dtype", "autotp_size", "tp_overlap_comm", "vocab_parallel_lm_head", "vocab_parallel_ce_backend",
        "tensor_parallel", "tp", "injection_policy_tuple", "partition_config", "preset_model", "keep_module_on_host",
        "replace_with_kernel_inject", "kernel_inject",
    ),
}  # fmt: skip

TOP_LEVEL = (
    "train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps", "optimizer", "scheduler",
    "managed_gradient_accumulation", "zero_optimization", "zero_allow_untested_optimizer", "steps_per_print",
    "zero_force_ds_cpu_optimizer", "fp16", "bf16", "bfloat16", "amp", "torch_autocast", "gradient_clipping",
    "graph_harvesting", "communication_data_type", "seq_parallel_communication_data_type", "prescale_gradients",
    "gradient_predivide_factor", "gradient_allreduce_op", "sparse_gradients", "disable_allgather", "allgather_size",
    "dump_state", "vocabulary_size", "wall_clock_breakdown", "memory_breakdown", "eigenvalue", "log_level",
    "progressive_layer_drop", "checkpoint", "data_types", "dataloader_drop_last", "elasticity", "aio", "nebula",
    "use_data_before_expert_parallelism", "sequence_parallel_size", "activation_checkpointing", "comms_logger",
    "tensorboard", "wandb", "csv_monitor", "comet", "flops_profiler", "autotuning", "hybrid_engine", "sparse_attention",
    "pipeline", "curriculum_learning", "data_efficiency", "datastates_ckpt", "weight_quantization", "quantize_training",
    "compression_training", "compile", "timers", "tensor_parallel", "expert_parallel", "monitor_config",
)  # fmt: skip

# Sections whose keys are read one by one: other keys have no effect. Sources: deepspeedai/DeepSpeed 0.19.8
# runtime/activation_checkpointing/config.py, profiling/config.py, autotuning/config.py and elasticity/constants.py.
LOOSE_SECTIONS: dict[str, tuple[str, ...]] = {
    "activation_checkpointing": (
        "partition_activations", "contiguous_memory_optimization", "number_checkpoints",
        "synchronize_checkpoint_boundary", "profile", "cpu_checkpointing",
    ),
    "flops_profiler": (
        "enabled", "recompute_fwd_factor", "profile_step", "module_depth", "top_modules", "detailed", "output_file",
    ),
    "autotuning": (
        "enabled", "fast", "results_dir", "exps_dir", "overwrite", "start_profile_step", "end_profile_step", "metric",
        "metric_path", "mp_size", "max_train_batch_size", "min_train_batch_size", "arg_mappings", "model_info",
        "max_train_micro_batch_size_per_gpu", "min_train_micro_batch_size_per_gpu", "num_tuning_micro_batch_sizes",
        "tuner_type", "tuner_early_stopping", "tuner_num_trials", "model_info_path",
    ),
    "elasticity": (
        "enabled", "max_train_batch_size", "micro_batch_sizes", "min_gpus", "max_gpus", "min_time", "version",
        "ignore_non_elastic_batch_info", "prefer_larger_batch", "model_parallel_size", "num_gpus_per_node",
    ),
}  # fmt: skip
BATCH_KEYS = ("train_batch_size", "train_micro_batch_size_per_gpu", "gradient_accumulation_steps")

# Elastic batch sizes are multiples of these: highly composite numbers (elasticity/elasticity.py, HCN_LIST).
_HIGHLY_COMPOSITE = (
    1, 2, 4, 6, 12, 24, 36, 48, 60, 120, 180, 240, 360, 720, 840, 1260, 1680, 2520, 5040, 7560, 10080, 15120, 20160,
    25200, 27720, 45360, 50400, 55440, 83160, 110880, 166320, 221760, 277200, 332640, 498960, 554400, 665280, 720720,
)  # fmt: skip


def stage(config: dict[str, Any]) -> int | None:
    """Returns the ZeRO stage; None if it is not a number, such as `auto`."""
    zero = config.get("zero_optimization", {})
    if isinstance(zero, bool):
        return int(zero)
    return integer(zero, "stage") if "stage" in mapping(zero) else 0


def enabled(config: dict[str, Any], section: str) -> bool:
    """True if a section has `enabled: true`."""
    return mapping(config, section).get("enabled") is True


def elastic_gpu_counts(
    micro_batches: list[int], largest_batch: int, fewest: int, most: int, larger: bool
) -> tuple[int, ...]:
    """Returns the GPU counts that elasticity version 0.1 accepts (elasticity.py, _get_compatible_gpus_v01)."""
    best_batch, best = min(micro_batches), tuple[int, ...]()
    for batch in {_scaled(base, largest_batch) for base in (*micro_batches, math.lcm(*micro_batches))}:
        counts = _gpu_counts(batch, micro_batches, fewest, most)
        preferred = batch > best_batch if larger else batch < best_batch
        if len(counts) > len(best) or (len(counts) == len(best) and preferred):
            best_batch, best = batch, counts
    return best


def _scaled(base: int, largest: int) -> int:
    if base == largest:
        return base
    return base * max((number for number in _HIGHLY_COMPOSITE if number <= largest // base), default=1)


def _gpu_counts(batch: int, micro_batches: list[int], fewest: int, most: int) -> tuple[int, ...]:
    steps = [batch // micro for micro in micro_batches if batch % micro == 0]
    return tuple(n for n in range(max(fewest, 1), min(most, batch) + 1) if any(count % n == 0 for count in steps))
