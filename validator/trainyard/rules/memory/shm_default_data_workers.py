"""The workers of the data loader share 64 MiB, and the first that finds it full ends with a bus error.

Each worker of PyTorch's DataLoader passes its batches to the training process through `/dev/shm`. Without a volume
there, container runtimes mount 64 MiB. Four workers with two batches of 32 images ready need about 150 MiB. The
program then stops with "DataLoader worker is killed by signal: Bus error", often in the middle of an epoch.

The rule looks for `--num-workers` of at least two in the command of a container with one GPU, and for `--workers` of a
program that trains by its name or its options, since other programs have such an option, too.
`shm-default-64mi` reports containers with several.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit` below the memory limit at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources import shared_memory
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container, Pod
from trainyard.startup import pattern

_OPTIONS = ("--num-workers", "--dataloader-num-workers", "--data-workers", "--loader-workers")
_ANY = "--workers"
_OF_TRAINING = ("--batch-size", "--epochs", "--lr", "--learning-rate")
_TRAINING = pattern(r"(?i)train|tune|\bfit\b|\bmain\b")


@rule(
    code="SH013",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "pytorch 2.15.0 torch/multiprocessing: tensors of workers are files in shared memory",
        "github.com/pytorch/pytorch issues 5040 and 16979",
    ),
    fix="safe",
    needs=("workers",),
)
def shm_default_data_workers(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report workers of a data loader with the default /dev/shm."""
    run, role = context.run, context.role
    if run is None or role is None or not has_all_pods(run):
        return
    for container in pod.containers:
        workers = _workers(container) if container.gpus else 0
        if workers < 2 or shared_memory.process_count(run, role, container) > 1:
            continue
        if shared_memory.has_default_size(run, role, container):
            yield Problem(
                container.at,
                f"{workers} workers of the data loader share the default /dev/shm of 64 MiB",
                "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
                shared_memory.mount_edits(pod, container),
            )


def _workers(container: Container) -> int:
    """Returns the number of workers for which the command asks a Python program, 0 if it does not say."""
    return max(map(_of_command, container.commands), default=0)


def _of_command(command: Command) -> int:
    if not any(word.endswith(".py") or word.rsplit("/", 1)[-1].startswith("python") for word in command.words):
        return 0
    options = (*_OPTIONS, _ANY) if _trains(command) else _OPTIONS
    return decimal(command.option(*options) or "") or 0


def _trains(command: Command) -> bool:
    """True for a program that trains by the name of its script or module, or by its options."""
    return command.has(*_OF_TRAINING) or any(
        _TRAINING.search(word.rsplit("/", 1)[-1]) for word in command.words if not word.startswith("-")
    )
