"""The script starts without a launcher, so Hugging Face's Trainer runs one process, and the other GPUs stay idle.

FSDP and DeepSpeed have one process for each GPU, which `torchrun`, `accelerate launch` or `deepspeed` start. Under
plain `python`, DeepSpeed trains on one GPU, or looks for MPI and stops. FSDP stops with "Using fsdp only works in
distributed training".

The rule looks at a container with several GPUs and a script with `--per_device_train_batch_size` beside `--deepspeed`
or `--fsdp`. It leaves out jobs of MPI, and modules, which may start processes themselves.

Start the script with `torchrun --nproc-per-node=gpu`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import starts_launcher
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container

_SIGN, _OPTIONS = "--per-device-train-batch-size", ("--deepspeed", "--fsdp")
# With these, a program starts torchrun itself, or another one has set up the ranks.
_VARIABLES = ("FORCE_TORCHRUN", "NPROC_PER_NODE", "LOCAL_RANK", "OMPI_COMM_WORLD_SIZE", "CUDA_VISIBLE_DEVICES")


@rule(
    code="TD077",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "transformers 5.23.0 trainer.py: Using fsdp only works in distributed training",
        "deepspeedai/DeepSpeed edaa7221 deepspeed/comm/comm.py: init_distributed, mpi_discovery",
        "github.com/huggingface/transformers issue 18360",
    ),
    needs=("per_device_train_batch_size", "per-device-train-batch-size"),
)
def trainer_without_launcher(container: Container, context: Context) -> Iterator[Problem]:
    """Report scripts of the Trainer that lack a launcher."""
    if container.gpus < 2 or context.run is None or context.run.kind == "MPIJob":
        return
    if any(container.setting(name) is not None for name in _VARIABLES):
        return
    if any(starts_launcher(command.words) for command in container.commands):
        return
    for command in container.commands:
        used = next((name for name in _OPTIONS if _value(command, name)), None)
        if used is not None and _is_script(command) and command.has(_SIGN):
            yield Problem(
                command.word_at[0],
                f"`python` starts one process, and {used} needs one for each of the {container.gpus} GPUs: a launcher "
                "is missing",
                "start the script with `torchrun --nproc-per-node=gpu`",
            )


def _is_script(command: Command) -> bool:
    words = [word for word in command.words[1:] if not word.startswith("-")]
    is_module = any(word in ("-m", "-c") for word in command.words[1:4])
    return command.program.startswith("python") and not is_module and bool(words) and words[0].endswith(".py")


def _value(command: Command, name: str) -> bool:
    value = command.option(name)
    return bool(value) and not str(value).startswith("-")
