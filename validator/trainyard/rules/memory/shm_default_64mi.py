"""A pod with several GPU processes has only 64 MiB of shared memory, and NCCL or the data loaders fail in it.

Without a volume at `/dev/shm`, container runtimes mount 64 MiB there. NCCL puts segments of several MiB for each pair
of processes into it, and data loader workers hand over whole batches through it. NCCL then ends with `failed to extend
/dev/shm/nccl-...`, and loaders with `Bus error` or `unable to open shared memory object`, often only after some hours.

Pods that share the node's `/dev/shm` (`hostIPC: true`) and containers with `NCCL_SHM_DISABLE=1` are left alone; other
rules speak of these.

Mount an `emptyDir` with `medium: Memory` and a `sizeLimit` below the memory limit at `/dev/shm`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.aspects.known import pods_are_whole
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="SH001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "containerd/containerd oci/mounts.go: /dev/shm is a tmpfs with size=65536k",
        "NVIDIA/nccl docs/userguide/source/troubleshooting/runtime_and_mpi_issues.rst: shared memory",
        "https://github.com/NVIDIA/nccl/issues/525",
    ),
    fix="safe",
)
def shm_default_64mi(role: Role, context: Context) -> Iterator[Problem]:
    """GPU processes that share the runtime's default /dev/shm."""
    if not pods_are_whole(context.run):
        return
    for container in shared_memory.accelerated(role):
        if not shared_memory.is_default(role.pod, container):
            continue
        disabled = container.setting("NCCL_SHM_DISABLE")
        processes = shared_memory.processes(context.run, role, container)
        if processes > 1 and (disabled is None or disabled.value != "1"):
            yield Problem(
                container.at.child("volumeMounts").key(),
                f"{processes} GPU processes share a /dev/shm of 64 MiB: no volume is mounted there",
                "mount an emptyDir with `medium: Memory` and a sizeLimit at /dev/shm",
                shared_memory.mounting(role.pod, container),
            )
