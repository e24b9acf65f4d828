"""Options of the launcher exclude each other, or one that another needs is missing: it stops before it starts any rank.

`accelerate launch` takes one of `--cpu`, `--multi_gpu`, `--tpu`, `--use_deepspeed` and `--use_fsdp`, and at least two
processes with `--multi_gpu`. Without a configuration file, several machines need `--machine_rank`. With several
machines and DeepSpeed, it passes the number of GPUs on, which the multinode launchers openmpi, mpich, impi and mvapich
refuse. torchrun takes one of `--module` and `--no-python`.

Remove one of the options, or add the missing one.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import Start, starts
from trainyard.document.document import Place
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Command, Container

_KINDS = ("--cpu", "--multi-gpu", "--tpu", "--use-deepspeed", "--use-fsdp")
# Launchers of DeepSpeed whose ranks come from MPI: they take no number of GPUs.
_MPI = ("openmpi", "mpich", "impi", "mvapich")


@rule(
    code="SC022",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "huggingface/accelerate 1.15.0 commands/launch.py: _validate_launch_command",
        "huggingface/accelerate 1.15.0 utils/launch.py: prepare_multi_gpu_env, prepare_deepspeed_cmd_env",
        "deepspeedai/DeepSpeed 0.19.8 launcher/multinode_runner.py: validate_args",
        "pytorch 2.15.0 torch/distributed/run.py: config_from_args",
        "github.com/huggingface/accelerate issues 3206 and 3319",
    ),
    needs=("torchrun", "torch.distributed", "accelerate"),
)
def launcher_options_conflict(container: Container) -> Iterator[Problem]:
    """Report options that a launcher refuses together."""
    for start in starts(container):
        if start.launcher.takes_torchrun:
            if start.has("-m", "--module") and start.has("--no-python"):
                message = "torchrun takes one of --module and --no-python: it stops with both"
                yield Problem(_place(start, "--no-python"), message, "remove one")
        elif "--deepspeed-hostfile" in start.launcher.valued and start.program is not None:
            yield from _accelerate(start)


def _accelerate(start: Start) -> Iterator[Problem]:
    own = _own(start)
    given = [kind for kind in _KINDS if start.has(kind)]
    if len(given) > 1:
        message = f"accelerate takes one of {' and '.join(_shown(kind) for kind in given)}: it stops"
        yield Problem(_place(start, given[1]), message, "remove one")
    processes, machines = own.option_at("--num-processes"), own.option("--num-machines") or ""
    if start.has("--multi-gpu") and processes is not None and processes[0] in ("0", "1"):
        message = "accelerate needs two processes with --multi_gpu, of all machines together: it stops"
        yield Problem(processes[1], message, "remove `--multi_gpu`, or write the number of all GPUs")
    if not machines.isdecimal() or int(machines) < 2:
        return
    has_file = start.has("--config-file")
    if start.has("--multi-gpu") and not has_file and not start.has("--machine-rank"):
        message = f"accelerate starts {machines} machines without --machine_rank: it stops, because the rank is None"
        yield Problem(_place(start, "--num-machines"), message, "add `--machine_rank` with the number of the pod")
    backend = own.option_at("--deepspeed-multinode-launcher")
    if backend is not None and backend[0].lower() in _MPI and (start.has("--use-deepspeed") or has_file):
        yield Problem(
            backend[1],
            f"accelerate passes the number of GPUs on, which DeepSpeed's launcher {backend[0]} refuses: it stops",
            "start `accelerate launch` on each machine with `standard`, or `deepspeed --launcher` itself",
        )


def _own(start: Start) -> Command:
    """Returns the launcher's part of the command, without the program that it starts."""
    end = start.program
    return Command(start.command.words[:end], start.command.word_at[:end], start.command.at)


def _place(start: Start, name: str) -> Place:
    return next(start.place(index) for word, index in start.options if word.partition("=")[0].replace("_", "-") == name)


def _shown(name: str) -> str:
    return "--" + name[2:].replace("-", "_")
