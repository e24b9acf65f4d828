"""The volume at /dev/shm is small for the number of GPUs, so NCCL or the data loaders fill it.

Each GPU process has its own data loader workers, which pass whole batches through `/dev/shm`, and NCCL adds segments
of about 10 MB for each pair of processes in the pod. A volume of a few hundred MiB that was enough for one GPU is full
with eight: `failed to extend /dev/shm/nccl-...`, or `Bus error` in a loader. The minimum is 256 MiB per GPU unless
configured otherwise: 1 GiB, which NCCL's guide advises, is enough for four GPUs with small batches.

Write a larger `sizeLimit`, below the memory limit. 1 GiB per GPU leaves room for the loaders.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources import shared_memory
from trainyard.document.document import SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Role
from trainyard.startup import NamedTuple

# In GiB per accelerator.
ADVISED = 1.0


class Floor(NamedTuple):
    """`gib_per_gpu`: the minimum size of /dev/shm, in GiB per accelerator. The advice is at least `ADVISED`."""

    gib_per_gpu: float = 0.25


@rule(
    code="SH008",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "https://github.com/NVIDIA/nccl/issues/525: segments of 9637888 bytes",
        "NVIDIA/nccl docs/userguide/source/troubleshooting/runtime_and_mpi_issues.rst: shared memory, --shm-size=1g",
        "policy: 256 MiB for each GPU process",
    ),
    fix="unsafe",
    parameters=Floor(),
    needs=("emptyDir",),
)
def shm_too_small_for_gpus(role: Role, context: Context) -> Iterator[Problem]:
    """Report a /dev/shm that is small for its GPUs."""
    for container in shared_memory.accelerated_containers(role):
        volume = shared_memory.shm_volume(role.pod, container)
        size = shared_memory.size_limit(volume) if volume is not None and shared_memory.in_memory(volume) else None
        least = context.parameters.gib_per_gpu
        floor = least * container.gpus * shared_memory.GIB
        if volume is None or size is None or size >= floor:
            continue
        limit = shared_memory.memory_limit(role.pod, container)
        at = volume.at.child("emptyDir", "sizeLimit")
        needed = -int(-max(least, ADVISED) * container.gpus // 1)
        fits = limit is None or needed * shared_memory.GIB <= limit[0] / 2
        wanted = f"{needed}Gi"
        yield Problem(
            at,
            f"volume {volume.name} at /dev/shm has only {volume.body.get('sizeLimit')} for {container.gpus} GPUs",
            f"write a sizeLimit of at least {wanted}" + ("" if fits else ", and a memory limit of twice that"),
            (SetValue(at, wanted),) if fits else (),
        )
