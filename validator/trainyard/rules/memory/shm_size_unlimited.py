"""The volume at /dev/shm has no sizeLimit, so a leak in it ends with the pod or its neighbours killed.

The pages of a volume in memory count as memory of the container that wrote them. Without `sizeLimit` the volume may
grow to the memory limit of the pod, or to all of the node's allocatable memory where a container has no limit: a data
loader that leaks is then killed with `OOMKilled` (exit code 137), with nothing that points to `/dev/shm`. With a
`sizeLimit` the program that fills it gets `No space left on device` and says so.

Write a `sizeLimit` that leaves room below the memory limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import shared_memory
from validator.model import Pod
from validator.rule import Add, Problem, rule


@rule(
    code="SH003",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/volume/emptydir/empty_dir.go: calculateEmptyDirMemorySize",
        "https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/#memory-backed-emptydir",
    ),
    fix="unsafe",
    needs=("emptyDir",),
)
def shm_size_unlimited(pod: Pod) -> Iterator[Problem]:
    """A /dev/shm without bound."""
    for container in pod.containers:
        volume = shared_memory.volume(pod, container)
        if volume is None or not shared_memory.in_memory(volume) or volume.body.get("sizeLimit") is not None:
            continue
        limit = shared_memory.memory_limit(pod, container)
        bound = f"the memory limit of {limit[1]}" if limit is not None else "the memory of the node"
        size = shared_memory.recommended(pod, container)
        yield Problem(
            volume.at.child("emptyDir", "sizeLimit"),
            f"volume {volume.name} at /dev/shm has no sizeLimit and may grow to {bound}",
            f"write a sizeLimit below the memory limit, for instance `sizeLimit: {size}`",
            (Add(volume.at.child("emptyDir"), "sizeLimit", size),),
        )
