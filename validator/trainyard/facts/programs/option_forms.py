"""The values that options of launchers and frameworks take, by the name of the option.

Sources: pytorch 2.15.0 torch/distributed/run.py (get_args_parser, parse_min_max_nnodes, determine_local_world_size),
torch/distributed/elastic/multiprocessing/api.py (Std.from_str), elastic/rendezvous/utils.py (_parse_rendezvous_config,
parse_rendezvous_endpoint); deepspeedai/DeepSpeed 0.19.8 launcher/runner.py (parse_args, main); huggingface/accelerate
1.15.0 commands/launch.py (launch_command_parser) and utils/dataclasses.py (str_to_bool, FSDP_*);
huggingface/transformers 5.23.0 training_args.py (TrainingArguments, OptimizerNames), trainer_utils.py (SchedulerType,
IntervalStrategy, SaveStrategy) and hf_argparser.py (string_to_bool).
"""

from __future__ import annotations

from trainyard.facts.programs.accelerate import FSDP_WORDS, MIXED
from trainyard.facts.programs.hugging_face import ARGUMENT_FALSE, ARGUMENT_TRUE, SWITCH_WORDS
from trainyard.startup import NamedTuple


class Form(NamedTuple):
    """The values that an option takes; numbers are from `least` to `most`.

    `kind` is "integer", "number", "word" (one of `words`, in any case with `is_loose`), "not word" (none of `words`,
    and no misspelt name of `near`), "nodes" (`N` or `MIN:MAX`), "processes" (a number or one of `words`), "streams"
    (redirects of torchrun), "integers" or "pairs" (lists with commas), "host" or "endpoint" (`HOST:PORT`).
    """

    kind: str
    words: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    is_loose: bool = False
    near: tuple[str, ...] = ()


INTEGER = Form("integer")
_NOT_NEGATIVE = Form("integer", least=0)
_NUMBER = Form("number")
SWITCH = Form("word", SWITCH_WORDS, is_loose=True)
_HOST = Form("host")
_DEVICE = Form("word", ("none", "cpu", "nvme"))
# Backends of collectives, and misspelt ones; further backends may come from plug-ins.
_NO_RENDEZVOUS = Form(
    "not word",
    ("nccl", "gloo", "mpi", "ucc", "xccl", "hccl", "tcp", "env", "env://", "c10", "cd10", "C10D", "C10d", "c10-d",
     "c10d_", "etcd2", "etcdv2", "etcd_v2", "etcd3", "etcdv3", "etcd_v3", "etcd-v3"),
    near=("c10d", "static", "etcd", "etcd-v2"),
)  # fmt: skip

# The keys of `--rdzv-conf` of all backends (rendezvous/dynamic_rendezvous.py, c10d_rendezvous_backend.py,
# etcd_rendezvous.py, etcd_rendezvous_backend.py, static_tcp_rendezvous.py), those with a form of their own first.
# `timeout` is a number for some backends, and nothing reads it for c10d. Other keys have no effect.
RENDEZVOUS_KEYS: dict[str, Form | None] = {
    **dict.fromkeys(
        ("join_timeout", "last_call_timeout", "close_timeout", "heartbeat_timeout", "read_timeout",
         "keep_alive_interval", "keep_alive_max_attempt"),
        INTEGER,
    ),
    "is_host": Form("word", ("true", "false", "1", "0", "t", "f", "yes", "no", "y", "n"), is_loose=True),
    "store_type": Form("word", ("tcp", "file"), is_loose=True),
    **dict.fromkeys(
        ("cas_backoff_max_seconds", "timeout", "rank", "protocol", "cert", "key", "cacert", "etcd_prefix", "ssl_cert",
         "ssl_cert_key", "ca_cert")
    ),
}  # fmt: skip
TORCHRUN: dict[str, Form] = {
    "--nnodes": Form("nodes"),
    # The last ones are names of backends outside of PyTorch.
    "--nproc-per-node": Form(
        "processes",
        ("auto", "gpu", "cpu", "xpu", "npu", "hpu", "mlu", "musa", "sdaa", "gcu", "maca", "privateuseone"),
        1,
    ),
    "--rdzv-backend": _NO_RENDEZVOUS,
    "--rdzv-endpoint": Form("endpoint"),
    "--rdzv-conf": Form("pairs"),
    "--max-restarts": _NOT_NEGATIVE,
    "--monitor-interval": _NUMBER,
    "--start-method": Form("word", ("spawn", "fork", "forkserver")),
    "--redirects": Form("streams"),
    "-r": Form("streams"),
    "--tee": Form("streams"),
    "-t": Form("streams"),
    "--local-ranks-filter": Form("integers"),
    "--node-rank": INTEGER,
    "--master-addr": _HOST,
    "--master-port": INTEGER,
    "--numa-binding": Form("word", ("node", "socket", "exclusive", "core-complex")),
    "--shutdown-timeout": INTEGER,
}
DEEPSPEED: dict[str, Form] = {
    **dict.fromkeys(
        ("--num-nodes", "--num-gpus", "--num-accelerators", "--min-elastic-nodes", "--max-elastic-nodes", "--node-rank",
         "--master-port", "--ssh-port"),
        INTEGER,
    ),
    "--master-addr": _HOST,
    "--autotuning": Form("word", ("tune", "run")),
    "--launcher": Form("word", ("pdsh", "openmpi", "mpich", "impi", "mvapich", "slurm"), is_loose=True),
    "--log-level": Form("word", ("debug", "info", "warning", "error", "critical")),
}  # fmt: skip
ACCELERATE: dict[str, Form] = {
    **dict.fromkeys(
        ("--num-processes", "--num-machines", "--machine-rank", "--main-process-port", "--num-cpu-threads-per-process",
         "--max-restarts", "--gradient-accumulation-steps", "--fsdp-min-num-params", "--megatron-lm-tp-degree",
         "--megatron-lm-pp-degree", "--megatron-lm-num-micro-batches", "--parallelism-config-dp-replicate-size",
         "--parallelism-config-dp-shard-size", "--parallelism-config-tp-size", "--parallelism-config-cp-size",
         "--parallelism-config-sp-size"),
        INTEGER,
    ),
    **dict.fromkeys(("--monitor-interval", "--gradient-clipping", "--megatron-lm-gradient-clipping"), _NUMBER),
    "--zero-stage": Form("integer", least=0, most=3),
    "--mixed-precision": Form("word", MIXED),
    "--main-process-ip": _HOST,
    "--rdzv-backend": _NO_RENDEZVOUS,
    "--rdzv-conf": Form("pairs"),
    "--tee": Form("streams"),
    "-t": Form("streams"),
    "--fsdp-version": Form("word", ("1", "2")),
    **dict.fromkeys(("--offload-optimizer-device", "--offload-param-device"), _DEVICE),
    **dict.fromkeys(
        ("--zero3-init-flag", "--zero3-save-16bit-model", "--fsdp-forward-prefetch", "--fsdp-use-orig-params",
         "--fsdp-cpu-ram-efficient-loading", "--fsdp-sync-module-states", "--fsdp-activation-checkpointing"),
        SWITCH,
    ),
    # A number is the place of the word in the list.
    "--fsdp-sharding-strategy": Form(
        "word", (*FSDP_WORDS["fsdp_sharding_strategy"], "1", "2", "3", "4", "5"), is_loose=True
    ),
    **{
        f"--{name.replace('_', '-')}": Form("word", FSDP_WORDS[name], is_loose=True)
        for name in ("fsdp_auto_wrap_policy", "fsdp_backward_prefetch", "fsdp_state_dict_type")
    },
}  # fmt: skip

_STRATEGY = Form("word", ("no", "steps", "epoch"))
_TRAINER_INTEGERS = """
per_device_train_batch_size per_device_eval_batch_size gradient_accumulation_steps max_steps seed data_seed
save_total_limit dataloader_num_workers dataloader_prefetch_factor eval_accumulation_steps ddp_timeout ddp_bucket_cap_mb
torch_empty_cache_steps
"""
_TRAINER_NUMBERS = """
num_train_epochs learning_rate warmup_steps weight_decay adam_beta1 adam_beta2 adam_epsilon max_grad_norm
label_smoothing_factor logging_steps eval_steps save_steps eval_delay neftune_noise_alpha warmup_ratio
"""
_TRAINER_SWITCHES = """
bf16 fp16 bf16_full_eval fp16_full_eval tf32 gradient_checkpointing do_train do_eval do_predict overwrite_output_dir
load_best_model_at_end save_only_model greater_is_better logging_first_step disable_tqdm dataloader_drop_last
dataloader_pin_memory dataloader_persistent_workers remove_unused_columns ddp_find_unused_parameters
ddp_broadcast_buffers ddp_static_graph push_to_hub torch_compile auto_find_batch_size ignore_data_skip full_determinism
save_on_each_node log_on_each_node prediction_loss_only group_by_length use_cpu use_liger_kernel skip_memory_metrics
eval_on_start hub_private_repo
"""
_OPTIMIZERS = """
adamw_torch adamw_torch_fused adamw_torch_xla adamw_torch_npu_fused adamw_apex_fused adamw_hf adafactor
adamw_anyprecision adamw_torch_4bit adamw_torch_8bit ademamix sgd adagrad adamw_bnb_8bit adamw_8bit ademamix_8bit
lion_8bit lion_32bit paged_adamw_32bit paged_adamw_8bit paged_ademamix_32bit paged_ademamix_8bit paged_lion_32bit
paged_lion_8bit rmsprop rmsprop_bnb rmsprop_bnb_8bit rmsprop_bnb_32bit galore_adamw galore_adamw_8bit galore_adafactor
galore_adamw_layerwise galore_adamw_8bit_layerwise galore_adafactor_layerwise lomo adalomo grokadamw
schedule_free_radam schedule_free_adamw schedule_free_sgd apollo_adamw apollo_adamw_layerwise stable_adamw
"""
_SCHEDULERS = """
linear cosine cosine_with_restarts polynomial constant constant_with_warmup inverse_sqrt reduce_lr_on_plateau
cosine_with_min_lr cosine_warmup_with_min_lr warmup_stable_decay greedy
"""
# The arguments of Hugging Face's Trainer, as options of a command. A switch may stand without a value.
TRAINER: dict[str, Form] = {
    f"--{name.replace('_', '-')}": form
    for names, form in (
        (_TRAINER_INTEGERS, INTEGER),
        (_TRAINER_NUMBERS, _NUMBER),
        (_TRAINER_SWITCHES, Form("word", (*ARGUMENT_TRUE, *ARGUMENT_FALSE), is_loose=True)),
        ("eval_strategy evaluation_strategy logging_strategy", _STRATEGY),
        ("save_strategy", Form("word", ("no", "steps", "epoch", "best"))),
        ("optim", Form("word", tuple(_OPTIMIZERS.split()))),
        ("lr_scheduler_type", Form("word", tuple(_SCHEDULERS.split()))),
        ("log_level log_level_replica",
         Form("word", ("detail", "debug", "info", "warning", "error", "critical", "passive"))),
        ("ddp_backend", Form("word", ("nccl", "gloo", "mpi", "ccl", "xccl", "hccl", "cncl", "mccl"))),
    )
    for name in names.split()
}  # fmt: skip
