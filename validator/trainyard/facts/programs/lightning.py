"""Arguments of Lightning's Trainer, and the words that they take.

Source: Lightning 2.6.6 pytorch/trainer/trainer.py (Trainer), trainer/connectors/accelerator_connector.py,
pytorch/strategies and fabric/plugins/precision/precision.py; arguments and strategies of the releases since 1.0 are
among them.
"""

from __future__ import annotations

_NOW = """
accelerator strategy devices num_nodes precision logger callbacks fast_dev_run max_epochs min_epochs max_steps min_steps
max_time limit_train_batches limit_val_batches limit_test_batches limit_predict_batches overfit_batches
val_check_interval check_val_every_n_epoch num_sanity_val_steps log_every_n_steps enable_checkpointing
enable_progress_bar enable_model_summary accumulate_grad_batches gradient_clip_val gradient_clip_algorithm deterministic
benchmark inference_mode use_distributed_sampler profiler detect_anomaly barebones plugins sync_batchnorm
reload_dataloaders_every_n_epochs default_root_dir enable_autolog_hparams model_registry
"""
# Lightning 2.0 removed these; earlier ones are not among them. Nor is `resume_from_checkpoint`: NeMo takes it out of
# the section `trainer` itself.
REMOVED = {
    "gpus": "accelerator: gpu` and `devices", "tpu_cores": "accelerator: tpu` and `devices",
    "num_processes": "devices", "auto_select_gpus": "devices", "amp_backend": "precision", "amp_level": "precision",
    "replace_sampler_ddp": "use_distributed_sampler",
    "multiple_trainloader_mode": "CombinedLoader", "track_grad_norm": "on_before_optimizer_step",
    "auto_lr_find": "Tuner", "auto_scale_batch_size": "Tuner", "move_metrics_to_cpu": "",
}  # fmt: skip
# These came with Lightning 2.0: arguments, and words of `precision`.
NEW_ARGUMENTS = frozenset(("barebones", "use_distributed_sampler", "enable_autolog_hparams", "model_registry"))
NEW_PRECISIONS = frozenset((
    "16-mixed", "bf16-mixed", "16-true", "bf16-true", "32-true", "64-true", "transformer-engine",
    "transformer-engine-float16",
))  # fmt: skip
_FORMER = """
gpus auto_select_gpus tpu_cores ipus num_processes distributed_backend amp_backend amp_level checkpoint_callback
weights_save_path weights_summary progress_bar_refresh_rate process_position flush_logs_every_n_steps track_grad_norm
resume_from_checkpoint replace_sampler_ddp multiple_trainloader_mode stochastic_weight_avg terminate_on_nan
auto_lr_find auto_scale_batch_size prepare_data_per_node move_metrics_to_cpu truncated_bptt_steps log_gpu_memory
reload_dataloaders_every_epoch
"""
ARGUMENTS = frozenset((_NOW + _FORMER).split())
_DDP = ("", "_find_unused_parameters_false", "_find_unused_parameters_true")
STRATEGIES = frozenset((
    "auto", "dp", "ddp2", "ddp_cpu", "horovod", "bagua", "hivemind", "colossalai", "tpu_spawn", "hpu_parallel",
    "hpu_single", "single_device", "single_tpu", "single_xla", "xla", "xla_debug", "xla_fsdp", "modelparallel",
    *(f"ddp{kind}{end}" for kind in ("", "_fork", "_spawn", "_notebook") for end in _DDP),
    "ddp_sharded", "ddp_sharded_spawn", "ddp_fully_sharded", "fsdp", "fsdp_cpu_offload", "fsdp_native",
    "fsdp_native_full_shard_offload", "deepspeed", *(f"deepspeed_stage_{stage}" for stage in (1, 2, 3)),
    "deepspeed_stage_2_offload", "deepspeed_stage_3_offload", "deepspeed_stage_3_offload_nvme",
))  # fmt: skip
PRECISIONS = (
    "16-mixed", "bf16-mixed", "16-true", "bf16-true", "32-true", "64-true", "transformer-engine",
    "transformer-engine-float16", "16", "32", "64", "bf16", "mixed", "nf4", "nf4-dq", "fp4", "fp4-dq", "int8",
    "int8-training", "fp8",
)  # fmt: skip
CLIPPING = ("norm", "value")
