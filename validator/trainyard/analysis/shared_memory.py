"""Shared memory of a container: what is mounted at /dev/shm, and how large it may get.

Sources: containerd oci/mounts.go (64 MiB without a volume); kubernetes v1.34.4 pkg/volume/emptydir/empty_dir.go,
calculateEmptyDirMemorySize: a volume in memory is as large as the least of its sizeLimit, the pod's memory limit and
the node's allocatable memory, and its pages count as memory of the container that wrote them.
"""

from __future__ import annotations

from typing import Any

from validator.facts.quantities import number
from validator.fields import mapping
from validator.model import Container, Mount, Pod, Role, Run, Volume
from validator.roads.jobs import REPLICA_FIELDS
from validator.rule import Append, Edit

PATH = "/dev/shm"  # noqa: S108
GIB = 2**30
# What fixes ask for; loaders and NCCL together seldom need more, and half of the memory limit bounds it.
GIB_PER_GPU = 8


def mount(container: Container) -> Mount | None:
    """The mount that provides /dev/shm, be it of the folder itself or of the whole of /dev."""
    found = None
    for one in container.mounts:
        if one.mount_path.startswith("/dev"):
            path = one.mount_path.rstrip("/")
            if path == PATH:
                return one
            if path == "/dev":
                found = one
    return found


def volume(pod: Pod, container: Container) -> Volume | None:
    """The volume that is mounted at /dev/shm."""
    found = mount(container)
    return pod.volume(found.volume) if found is not None and found.mount_path.rstrip("/") == PATH else None


def in_memory(volume: Volume) -> bool:
    """Whether the volume is an emptyDir in memory."""
    return volume.kind == "emptyDir" and volume.body.get("medium") == "Memory"


def size(volume: Volume) -> float | None:
    """The sizeLimit in bytes, None when there is none."""
    return number(volume.body.get("sizeLimit"))


def memory_limit(pod: Pod, container: Container) -> tuple[float, Any] | None:
    """The memory limit that holds for a container, in bytes and as written: its own, or that of the whole pod."""
    written = container.limits.get("memory", mapping(pod.tree, "resources", "limits").get("memory"))
    value = number(written)
    return (value, written) if value is not None else None


def host_ipc(pod: Pod) -> bool:
    """Whether the pod shares /dev/shm with its node."""
    return pod.tree.get("hostIPC") is True


def is_default(pod: Pod, container: Container) -> bool:
    """Whether the container has no more shared memory than the 64 MiB of its runtime."""
    return mount(container) is None and not host_ipc(pod)


def accelerated(role: Role) -> tuple[Container, ...]:
    """The containers of a training role that ask for accelerators."""
    return tuple(container for container in role.pod.containers if container.gpus) if role.trains else ()


def processes(run: Run | None, role: Role, container: Container) -> int:
    """How many processes of the container talk to each other, going by its accelerators and by what it is told."""
    told = run.processes if run is not None and container is role.container else None
    return max(container.gpus, told or 1)


def recommended(pod: Pod, container: Container) -> str:
    """A sizeLimit that suits the container: so much for each accelerator, but at most half of its memory."""
    wanted = GIB_PER_GPU * GIB * max(container.gpus, 1)
    limit = memory_limit(pod, container)
    if limit is not None:
        wanted = min(wanted, max(int(limit[0] / 2), 1))
    return f"{wanted // GIB}Gi" if wanted >= GIB else f"{max(wanted // 2**20, 1)}Mi"


def mounting(pod: Pod, container: Container) -> tuple[Edit, ...]:
    """Edits that mount a volume in memory at /dev/shm; one that the pod has and mounts nowhere is taken."""
    used = {mount.volume for one in (*pod.containers, *pod.init_containers) for mount in one.mounts}
    names = {volume.name for volume in pod.volumes}
    own = (volume for volume in pod.volumes if volume.at.path[: len(pod.at.path)] == pod.at.path)
    spare = next((volume.name for volume in own if in_memory(volume) and volume.name not in used), None)
    name = spare or next((name for name in ("shm", "dshm", "shared-memory") if name not in names), "shm-of-training")
    mounted = Append(container.at.child("volumeMounts"), {"name": name, "mountPath": PATH})
    if spare is not None:
        return (mounted,)
    body = {"medium": "Memory", "sizeLimit": recommended(pod, container)}
    return (mounted, Append(pod.at.child("volumes"), {"name": name, "emptyDir": body}))


def others_mount(run: Run, role: Role) -> bool:
    """Whether another role of the same program has a volume at /dev/shm; roles of a JobSet may be other programs."""
    if run.kind not in REPLICA_FIELDS:
        return False
    others = (other for other in run.training_roles if other is not role)
    return any(mount(container) is not None for other in others for container in accelerated(other))
