"""Shared memory of a container: the volume at /dev/shm, and its size.

Sources: containerd oci/mounts.go (64 MiB without a volume); kubernetes v1.34.4 pkg/volume/emptydir/empty_dir.go,
calculateEmptyDirMemorySize: the size of a memory-backed emptyDir is the least of its sizeLimit, the pod's memory limit
and the node's allocatable memory. Its pages count as memory of the container that wrote them.
"""

from __future__ import annotations

import itertools
from typing import Any

from trainyard.analysis.jobs.workloads import gets_shared_memory, runs_one_program
from trainyard.document.document import Append, Edit
from trainyard.document.lookup import mapping
from trainyard.document.placeholders import has_parameter
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Mount, Pod, Role, Run, Volume

PATH = "/dev/shm"  # noqa: S108
GIB = 2**30
# The size that fixes request. Data loaders and NCCL seldom need more; half of the memory limit bounds it.
GIB_PER_GPU = 8


def shm_mount(container: Container) -> Mount | None:
    """Returns the mount that provides /dev/shm: of the folder itself or of the whole of /dev."""
    found = None
    for one in container.mounts:
        if one.mount_path.startswith("/dev"):
            path = one.mount_path.rstrip("/")
            if path == PATH:
                return one
            if path == "/dev":
                found = one
    return found


def shm_volume(pod: Pod, container: Container) -> Volume | None:
    """Returns the volume that is mounted at /dev/shm."""
    found = shm_mount(container)
    return pod.volume(found.volume) if found is not None and found.mount_path.rstrip("/") == PATH else None


def in_memory(volume: Volume) -> bool:
    """True if the volume is a memory-backed emptyDir."""
    return volume.kind == "emptyDir" and volume.body.get("medium") == "Memory"


def size_limit(volume: Volume) -> float | None:
    """Returns the sizeLimit in bytes, None if there is none."""
    return parse_quantity(volume.body.get("sizeLimit"))


def memory_limit(pod: Pod, container: Container) -> tuple[float, Any] | None:
    """Returns the memory limit of a container, in bytes and as written: its own, or that of the whole pod."""
    written = container.limits.get("memory", mapping(pod.tree, "resources", "limits").get("memory"))
    value = parse_quantity(written)
    return (value, written) if value is not None else None


def host_ipc(pod: Pod) -> bool:
    """True if the pod shares /dev/shm with its node."""
    return pod.tree.get("hostIPC") is True


def has_default_size(run: Run | None, role: Role, container: Container) -> bool:
    """True if the container has only the runtime's default of 64 MiB of shared memory."""
    if shm_mount(container) is not None or host_ipc(role.pod) or gets_shared_memory(run, role, container):
        return False
    return not any(has_parameter(mount.mount_path) for mount in container.mounts)


def accelerated_containers(role: Role) -> tuple[Container, ...]:
    """Returns the containers of a training role that request accelerators."""
    return tuple(container for container in role.pod.containers if container.gpus) if role.trains else ()


def process_count(run: Run | None, role: Role, container: Container) -> int:
    """Returns the number of communicating processes in the container, from its accelerators and launcher options."""
    told = run.processes if run is not None and container is role.container else None
    return max(container.gpus, told or 1)


def recommended_size(pod: Pod, container: Container) -> str:
    """Returns a suitable sizeLimit: a fixed amount for each accelerator, at most half of the memory limit."""
    wanted = GIB_PER_GPU * GIB * max(container.gpus, 1)
    limit = memory_limit(pod, container)
    if limit is not None:
        wanted = min(wanted, max(int(limit[0] / 2), 1))
    return f"{wanted // GIB}Gi" if wanted >= GIB else f"{max(wanted // 2**20, 1)}Mi"


def mount_edits(pod: Pod, container: Container) -> tuple[Edit, ...]:
    """Returns edits that mount a memory-backed volume at /dev/shm, reusing one that the pod has but does not mount."""
    used = {mount.volume for one in (*pod.containers, *pod.init_containers) for mount in one.mounts}
    names = {volume.name for volume in pod.volumes}
    own = (volume for volume in pod.volumes if volume.at.path[: len(pod.at.path)] == pod.at.path)
    spare = next((volume.name for volume in own if in_memory(volume) and volume.name not in used), None)
    name = spare or next((name for name in ("shm", "dshm", "shared-memory") if name not in names), "shm-of-training")
    mounted = Append(container.at.child("volumeMounts"), {"name": name, "mountPath": PATH})
    if spare is not None:
        return (mounted,)
    body = {"medium": "Memory", "sizeLimit": recommended_size(pod, container)}
    return (mounted, Append(pod.at.child("volumes"), {"name": name, "emptyDir": body}))


def others_mount(run: Run, role: Role) -> bool:
    """True if another role of the same program mounts a volume at /dev/shm."""
    if not runs_one_program(run):
        return False
    return any(not role.is_same(other) for other in _mounting.of(run.roles))


def _first_two_that_mount(roles: tuple[Role, ...]) -> tuple[Role, ...]:
    found = (role for role in roles if any(shm_mount(one) is not None for one in accelerated_containers(role)))
    return tuple(itertools.islice(found, 2))


# Rules ask for each role of the run.
_mounting: LastIndex[tuple[Role, ...], tuple[Role, ...]] = LastIndex(_first_two_that_mount)
