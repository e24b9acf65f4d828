"""The workers of the data loader share 64 MiB, and the first that finds it full ends with a bus error.

Each worker of PyTorch's DataLoader passes its batches to the training process through `/dev/shm`. Without a volume
there, container runtimes mount 64 MiB. Four workers with two batches of 32 images ready need about 150 MiB. The
program then stops with "DataLoader worker is killed by signal: Bus error", often in the middle of an epoch.

The rule looks for `--workers` or `--num-workers` of at least two in the command of a container with one GPU.
`shm-default-64mi` reports containers with several.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit` below the memory limit at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources import shared_memory
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Container, Pod

_OPTIONS = ("--workers", "--num-workers", "--dataloader-num-workers", "--data-workers", "--loader-workers")


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
    found = [
        decimal(command.option(*_OPTIONS) or "") or 0
        for command in container.commands
        if any(word.endswith(".py") or word.rsplit("/", 1)[-1].startswith("python") for word in command.words)
    ]
    return max(found, default=0)
