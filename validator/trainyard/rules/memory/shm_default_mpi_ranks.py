"""The MPI processes of one pod exchange messages in a shared memory of 64 MiB, which is too small for so many.

Open MPI, MPICH and Intel MPI keep a segment for each process of a host in `/dev/shm`. In Open MPI it has 4 MiB by
default, so more than 16 processes do not fit into the 64 MiB that container runtimes mount. The run ends with
"Bus error" or "It appears as if there is not enough space for /dev/shm".

The rule looks at pods whose command starts more than 16 processes in the pod itself. It ignores lists of hosts.

Mount an `emptyDir` with `medium: Memory` at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.analysis.resources import shared_memory
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.run import Command, Role

_COUNT = ("-np", "--np", "-n", "--n")
_HOSTS = ("-H", "--host", "-host", "--hostfile", "-hostfile", "--machinefile", "-machinefile", "-f")
_FITTING = 16


@rule(
    code="SH014",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "open-mpi/ompi v5.0 opal/mca/btl/sm/btl_sm_component.c: segment_size of 4 MiB",
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "github.com/ai2cm/fv3net pull 990",
    ),
    fix="safe",
    needs=tuple(MPI_LAUNCHERS),
)
def shm_default_mpi_ranks(role: Role, context: Context) -> Iterator[Problem]:
    """Report many MPI processes with the default /dev/shm."""
    run, container = context.run, role.container
    if run is None or container is None or run.kind not in ("Pod", "Job", "CronJob") or not has_all_pods(run):
        return
    ranks = max((_ranks(command) for command in container.commands), default=0)
    if ranks > _FITTING and not container.gpus and shared_memory.has_default_size(run, role, container):
        yield Problem(
            container.at,
            f"{ranks} MPI processes share the default /dev/shm of 64 MiB, and each keeps 4 MiB there",
            "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
            shared_memory.mount_edits(role.pod, container),
        )


def _ranks(command: Command) -> int:
    """Returns the number of processes in the pod itself, 0 if it is not known or they are on other hosts."""
    words = command.words
    if command.program not in MPI_LAUNCHERS or any(word in _HOSTS for word in words):
        return 0
    index = next((number for number, word in enumerate(words) if word in _COUNT), None)
    return (decimal(words[index + 1]) or 0) if index is not None and index + 1 < len(words) else 0
