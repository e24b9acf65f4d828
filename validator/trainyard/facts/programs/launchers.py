"""Programs that start the processes of a training run, each with its source and its own options."""

from __future__ import annotations

import functools

from trainyard.startup import NamedTuple, pattern


class Launcher(NamedTuple):
    """A launcher: the name of its program or Python module, and its own options.

    `subcommands` are the words of which one must follow, if there are any. `per_node` are the options with the number
    of processes on each node, `total` those with the number of all processes, `nodes` those with the number of nodes.
    `is_greedy` is true if it uses every GPU by default. `takes_torchrun` is true if it has all options of torchrun.
    `trains_lora` is true if it trains LoRA's matrices alone by default. `valued` are all of its own options with a
    value and `flags` those without, in any release; both are empty if they are not known.
    """

    name: str
    source: str
    subcommands: tuple[str, ...] = ()
    per_node: tuple[str, ...] = ()
    total: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    is_greedy: bool = False
    is_mpi: bool = False
    takes_torchrun: bool = False
    trains_lora: bool = False
    valued: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


_TORCHRUN_VALUED = (
    "--nnodes", "--nproc-per-node", "--rdzv-backend", "--rdzv-endpoint", "--rdzv-id", "--rdzv-conf", "--max-restarts",
    "--monitor-interval", "--start-method", "--event-log-handler", "--role", "--log-dir", "-r", "--redirects", "-t",
    "--tee", "--log-line-prefix-template", "--local-ranks-filter", "--duplicate-stdout-filters",
    "--duplicate-stderr-filters", "--node-rank", "--master-addr", "--master-port", "--local-addr", "--logs-specs",
    "--numa-binding", "--signals-to-handle", "--shutdown-timeout", "--print-completion", "--logdir",
)  # fmt: skip
_TORCHRUN_FLAGS = (
    "-h", "--help", "--standalone", "-m", "--module", "--no-python", "--run-path", "--virtual-local-rank", "--use-env",
)  # fmt: skip
_DEEPSPEED_VALUED = (
    "-H", "--hostfile", "-i", "--include", "-e", "--exclude", "--num-nodes", "--num-gpus", "--num-accelerators",
    "--min-elastic-nodes", "--max-elastic-nodes", "--master-port", "--master-addr", "--node-rank", "--launcher",
    "--launcher-args", "--enable-each-rank-log", "--autotuning", "--bind-core-list", "--ssh-port", "--venv-script",
    "--log-level", "--comment", "--account",
)  # fmt: skip
_DEEPSPEED_FLAGS = (
    "-h", "--help", "--module", "--no-python", "--no-local-rank", "--no-ssh", "--no-ssh-check", "--force-multi",
    "--save-pid", "--elastic-training", "--bind-cores-to-rank", "-q", "--quiet", "--detect-nvlink-pairs",
)  # fmt: skip
# Of 0.5.1, 0.12.0, 0.17.1, 0.20.3, 0.25.0, 0.29.3, 0.34.2, 1.2.1, 1.7.0 and 1.15.0 together.
_ACCELERATE_VALUED = """
--aws-access-key-id --aws-secret-access-key --config-file --deepspeed-config-file --deepspeed-exclusion-filter
--deepspeed-hostfile --deepspeed-inclusion-filter --deepspeed-moe-layer-cls-names --deepspeed-multinode-launcher
--dynamo-backend --dynamo-mode --env --fp8-amax-compute-algo --fp8-amax-history-len --fp8-backend
--fp8-enable-fsdp-float8-all-gather --fp8-format --fp8-interval --fp8-margin --fp8-opt-level
--fp8-override-linear-precision --fp8-pad-inner-dim --fsdp-activation-checkpointing
--fsdp-activation-checkpointing-offload --fsdp-auto-wrap-policy --fsdp-backward-prefetch
--fsdp-backward-prefetch-policy --fsdp-cpu-ram-efficient-loading --fsdp-forward-prefetch --fsdp-min-num-params
--fsdp-offload-params --fsdp-reshard-after-forward --fsdp-sharding-strategy --fsdp-state-dict-type
--fsdp-sync-module-states --fsdp-transformer-layer-cls-to-wrap --fsdp-use-orig-params --fsdp-version --gpu-ids
--gradient-accumulation-steps --gradient-clipping --log-dir --machine-rank --main-process-ip --main-process-port
--main-training-function --max-restarts --megatron-lm-attention-backend --megatron-lm-attention-dropout
--megatron-lm-attention-softmax-in-fp32 --megatron-lm-calculate-per-token-loss --megatron-lm-context-parallel-size
--megatron-lm-decoder-last-pipeline-num-layers --megatron-lm-eod-mask-loss --megatron-lm-expert-model-parallel-size
--megatron-lm-expert-tensor-parallel-size --megatron-lm-gradient-clipping --megatron-lm-hidden-dropout
--megatron-lm-no-load-optim --megatron-lm-no-save-optim --megatron-lm-num-micro-batches
--megatron-lm-optimizer-cpu-offload --megatron-lm-overlap-cpu-optimizer-d2h-h2d --megatron-lm-pp-degree
--megatron-lm-recompute-activations --megatron-lm-recompute-granularity --megatron-lm-recompute-method
--megatron-lm-recompute-num-layers --megatron-lm-sequence-parallelism --megatron-lm-tp-degree
--megatron-lm-use-custom-fsdp --megatron-lm-use-distributed-optimizer --megatron-lm-use-precision-aware-optimizer
--megatron-lm-use-rotary-position-embeddings --min-num-params --mixed-precision --monitor-interval --mpirun-ccl
--mpirun-hostfile --num-cpu-threads-per-process --num-machines --num-processes --offload-optimizer-device
--offload-optimizer-nvme-path --offload-param-device --offload-param-nvme-path --offload-params
--parallelism-config-cp-backend --parallelism-config-cp-comm-strategy --parallelism-config-cp-size
--parallelism-config-dp-replicate-size --parallelism-config-dp-shard-size
--parallelism-config-sp-attn-implementation --parallelism-config-sp-backend --parallelism-config-sp-seq-length
--parallelism-config-sp-seq-length-is-variable --parallelism-config-sp-size --parallelism-config-tp-size
--rdzv-backend --rdzv-conf --role --sharding-strategy --tee --transformer-layer-cls-to-wrap --vm --zero-stage
--zero3-init-flag --zero3-save-16bit-model -t
"""
_ACCELERATE_FLAGS = """
--cpu --debug --downcast-bf16 --dynamo-use-dynamic --dynamo-use-fullgraph --dynamo-use-regional-compilation
--enable-cpu-affinity --fp16 --fp8-use-autocast-during-eval --help --ipex --module --mps --multi-gpu --no-python
--no-tpu-cluster --quiet --same-network --tpu --tpu-cluster --tpu-use-sudo --use-deepspeed --use-fsdp
--use-megatron-lm --use-mps-device --use-parallelism-config --use-xpu -h -m -q
"""


def _torchrun(name: str, source: str, *subcommands: str, is_plain: bool = True) -> Launcher:
    options = ("--nproc-per-node",), (), ("--nnodes",)
    own = (_TORCHRUN_VALUED, _TORCHRUN_FLAGS) if is_plain else ((), ())
    return Launcher(name, source, subcommands, *options, takes_torchrun=True, valued=own[0], flags=own[1])


def _mpi(name: str) -> Launcher:
    source = "Open MPI 5.0: mpirun, mpiexec and orterun are links to prterun; 4.1: to orterun"
    return Launcher(name, source, total=("-np", "-n", "--np", "-c"), is_mpi=True)


def _accelerate(name: str, *subcommands: str) -> Launcher:
    source = "huggingface/accelerate 1.15.0 commands/launch.py: launch_command_parser; entry points of setup.py"
    counts = (), ("--num-processes",), ("--num-machines",)
    own = tuple(_ACCELERATE_VALUED.split()), tuple(_ACCELERATE_FLAGS.split())
    return Launcher(name, source, subcommands, *counts, is_greedy=True, valued=own[0], flags=own[1])


def _deepspeed(name: str) -> Launcher:
    source = "deepspeedai/DeepSpeed 0.19.8 launcher/runner.py: parse_args; bin/deepspeed, bin/ds"
    counts = ("--num-gpus",), (), ("--num-nodes",)
    return Launcher(name, source, (), *counts, is_greedy=True, valued=_DEEPSPEED_VALUED, flags=_DEEPSPEED_FLAGS)


TORCHRUN_MODULES = ("torch.distributed.run", "torch.distributed.launch")
ACCELERATE_MODULE = "accelerate.commands.launch"

DLROVER = Launcher(
    "dlrover-run",
    "intelligent-machine-learning/dlrover dlrover/trainer/torch/elastic_run.py: the options of torchrun, with a "
    "rendezvous of its own",
    per_node=("--nproc-per-node",),
    nodes=("--nnodes",),
)
HOROVOD = "horovodrun"
COMPOSER = "composer"
LLAMA_FACTORY = "llamafactory-cli"
SWIFT = "swift"
SRUN = "srun"
# Options with a value, without their dashes: those that are no common word.
HOROVOD_OPTIONS = frozenset((
    "num-proc", "min-np", "min-num-proc", "max-np", "max-num-proc", "slots-per-host", "elastic-timeout", "reset-limit",
    "host-discovery-script", "network-interfaces", "start-timeout", "output-filename", "config-file", "ssh-port",
    "ssh-identity-file", "fusion-threshold-mb", "cycle-time-ms", "cache-capacity", "timeline-filename", "mpi-args",
    "num-nccl-streams", "gloo-timeout-seconds", "log-level",
))  # fmt: skip
ALL = (
    _torchrun("torchrun", "pytorch 2.15.0 torch/distributed/run.py: get_args_parser"),
    _torchrun(TORCHRUN_MODULES[0], "pytorch 2.15.0 torch/distributed/run.py: get_args_parser"),
    _torchrun(TORCHRUN_MODULES[1], "pytorch 2.15.0 torch/distributed/launch.py: parse_args"),
    _torchrun("ft_launcher", "NVIDIA/nvidia-resiliency-ext: scripts; fault_tolerance/launcher.py", is_plain=False),
    _torchrun("tune", "pytorch/torchtune torchtune/_cli/run.py: takes the parser of torchrun", "run", is_plain=False),
    _deepspeed("deepspeed"),
    _deepspeed("deepspeed.launcher.runner"),
    _accelerate("accelerate", "launch"),
    _accelerate("accelerate-launch"),
    _accelerate(ACCELERATE_MODULE),
    _mpi("mpirun"),
    _mpi("mpiexec"),
    _mpi("orterun"),
    _mpi("prterun"),
    Launcher(HOROVOD, "horovod/horovod v0.28.1 runner/launch.py: make_parser", total=("-np", "--num-proc")),
    Launcher(
        COMPOSER,
        "mosaicml/composer composer/cli/launcher.py: -n defaults to torch.cuda.device_count()",
        per_node=("-n", "--nproc"),
        total=("--world-size",),
        is_greedy=True,
    ),
    Launcher(
        LLAMA_FACTORY,
        "hiyouga/LLaMA-Factory 0f53217 src/llamafactory/cli.py: starts torchrun for get_device_count() processes",
        ("train",),
        is_greedy=True,
        trains_lora=True,
    ),
    Launcher(
        "axolotl",
        "axolotl-ai-cloud/axolotl 0.18.0 cli/main.py: train starts accelerate unless --launcher says otherwise",
        ("train",),
        is_greedy=True,
    ),
    Launcher(
        SWIFT,
        "modelscope/ms-swift 01a14c1 swift/cli/main.py: starts torchrun if NPROC_PER_NODE or NNODES is set",
        ("sft", "pt", "rlhf", "dpo", "orpo", "simpo"),
        trains_lora=True,
    ),
    Launcher(
        "colossalai",
        "hpcaitech/ColossalAI 02c1384 colossalai/cli/launcher/__init__.py: run",
        ("run",),
        ("--nproc-per-node",),
        (),
        ("--num-nodes",),
    ),
    DLROVER,
    Launcher(SRUN, "Slurm srun(1)", (), ("--ntasks-per-node",), ("-n", "--ntasks"), ("-N", "--nodes")),
    Launcher("ray", "Ray 2.x, Ray Jobs CLI: ray job submit waits for the job, and fails with it", ("job",)),
)
BY_NAME = {launcher.name: launcher for launcher in ALL}
MPI_LAUNCHERS = tuple(launcher.name for launcher in ALL if launcher.is_mpi)
# Many options of mpirun have values, so only such a word is certain to be the program that it starts.
MPI_PROGRAM = pattern(r"(?:[^=]*/)?(?:python[\d.]*|bash|sh|\w+_perf)|[^=]+\.(?:py|sh)|(?:/[\w.+-]+)*/s?bin/[\w.+-]+")

# Programs whose arguments only name a launcher, and words before the name of a package.
_NAMING = frozenset(
    (
        "echo", "printf", "pip", "pip3", "which", "type", "pgrep", "pkill", "killall", "grep", "cat", "ls", "cp", "mv",
        "rm", "mkdir", "ln", "chmod", "cd", "touch", "man", "apt-get", "apt", "kill", "export", "tee", "sed", "awk",
        "test", "[", "hash", "git", "tar", "wget", "curl",
    )
)  # fmt: skip
_INSTALLING = frozenset(("install", "uninstall", "download", "show", "freeze", "pip", "config", "-v", "-V"))
# A launcher may follow other programs and their options: `numactl ... torchrun`, `python -m torch.distributed.run`.
_REACH = 12


class Start(NamedTuple):
    """A launcher in a command, and the index of the first word after its name and subcommand."""

    launcher: Launcher
    after: int


@functools.lru_cache(maxsize=256)
def launcher_in(words: tuple[str, ...]) -> Start | None:
    """Returns the launcher that a command starts, itself or through another program."""
    if not words or words[0].rsplit("/", 1)[-1] in _NAMING:
        return None
    for index, word in enumerate(words[:_REACH]):
        if word in _INSTALLING and (index == 1 or word == "install"):
            return None
        launcher = BY_NAME.get(word.rsplit("/", 1)[-1])
        if launcher is None or ("." in launcher.name and words[index - 1] != "-m"):
            continue
        after = index + 1
        if not launcher.subcommands:
            return Start(launcher, after)
        if after < len(words) and words[after] in launcher.subcommands:
            return Start(launcher, after + 1)
    return None
