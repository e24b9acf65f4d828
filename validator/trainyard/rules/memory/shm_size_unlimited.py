"""Nothing bounds the volume at /dev/shm, so a leak in it gets the pod or its neighbours killed.

The pages of a memory-backed volume count as memory of the container that wrote them. Without `sizeLimit` the volume can
grow to the memory limit of the pod, or to all of the node's allocatable memory if a container has no limit. Then the
kernel kills processes anywhere on the node, and nothing points to `/dev/shm`. With a `sizeLimit`, the program that
fills the volume gets a clear `No space left on device`.

The rule ignores containers with a memory limit, which bounds the volume. Write a `sizeLimit` or a memory limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources import shared_memory
from trainyard.document.document import Add
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Pod


@rule(
    code="SH003",
    severity="info",
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
    """Report a /dev/shm without a sizeLimit."""
    for container in pod.containers:
        volume = shared_memory.shm_volume(pod, container)
        if volume is None or not shared_memory.in_memory(volume) or volume.body.get("sizeLimit") is not None:
            continue
        if shared_memory.memory_limit(pod, container) is not None:
            continue
        size = shared_memory.recommended_size(pod, container)
        yield Problem(
            volume.at.child("emptyDir", "sizeLimit"),
            f"volume {volume.name} at /dev/shm can grow to the memory of the node: no sizeLimit, no memory limit",
            f"write a sizeLimit, for instance `sizeLimit: {size}`, or a memory limit",
            (Add(volume.at.child("emptyDir"), "sizeLimit", size),),
        )
