"""The sizeLimit of /dev/shm is above the memory limit, so the pod is killed before the volume is full.

The pages of a memory-backed volume count as memory of the container that wrote them. A `sizeLimit` above the memory
limit can never be reached: processes and shared memory together hit the limit first, and the container is killed with
`OOMKilled` and exit code 137 instead of `No space left on device`. The volume itself is as large as the smaller of the
two numbers.

Write a `sizeLimit` that leaves room for the processes, half of the memory limit or less, or raise the limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources import shared_memory
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Container, Pod


@rule(
    code="SH004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/volume/emptydir/empty_dir.go: calculateEmptyDirMemorySize",
        "https://kubernetes.io/docs/concepts/storage/volumes/#emptydir: the size counts against the memory limit",
    ),
    needs=("emptyDir",),
)
def shm_exceeds_memory_limit(pod: Pod) -> Iterator[Problem]:
    """Report a /dev/shm that does not fit into the memory limit of its containers."""
    users_of = dict[int, list[Container]]()
    for container in pod.containers:
        users_of.setdefault(id(shared_memory.shm_volume(pod, container)), []).append(container)
    for volume in filter(shared_memory.in_memory, pod.volumes):
        users = users_of.get(id(volume), [])
        size = shared_memory.size_limit(volume)
        limit = _memory(pod, users)
        if users and size is not None and limit is not None and size > limit:
            written = volume.body.get("sizeLimit")
            yield Problem(
                volume.at.child("emptyDir", "sizeLimit"),
                f"volume {volume.name}: sizeLimit {written} of /dev/shm is above the memory limit {_words(pod, users)}",
                "leave room for the processes: a sizeLimit of half the memory limit or less",
            )


def _memory(pod: Pod, users: list[Container]) -> float | None:
    """Return the sum of the containers' memory limits, or None if one of them has no limit."""
    limits = [shared_memory.memory_limit(pod, container) for container in users]
    return sum(limit[0] for limit in limits if limit is not None) if None not in limits else None


def _words(pod: Pod, users: list[Container]) -> str:
    limits = [shared_memory.memory_limit(pod, container) for container in users]
    return " + ".join(str(limit[1]) for limit in limits if limit is not None)
