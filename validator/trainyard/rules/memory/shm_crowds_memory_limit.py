"""The volume at /dev/shm may take most of the memory limit, which leaves little for the processes themselves.

The pages of a volume in memory count as memory of the container that wrote them. Training processes need memory for
their own tensors, pinned buffers, the page cache of what they read, and the optimizer states that are offloaded. When
`/dev/shm` may take more than a part of the limit (half of it, unless configured otherwise), a full volume and a normal
step together are killed with `OOMKilled`.

Write a smaller `sizeLimit`, or raise the memory limit. A `sizeLimit` above the limit is found by
`shm-exceeds-memory-limit`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from validator.aspects import shared_memory
from validator.model import Pod
from validator.rule import Context, Problem, rule


class Share(NamedTuple):
    """`percent`: how much of the memory limit /dev/shm may take, in percent of the limit."""

    percent: int = 50


@rule(
    code="SH005",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "policy: half of the memory is for the processes",
        "kubernetes v1.34.4 pkg/volume/emptydir/empty_dir.go: calculateEmptyDirMemorySize",
    ),
    parameters=Share(),
    needs=("emptyDir",),
)
def shm_crowds_memory_limit(pod: Pod, context: Context) -> Iterator[Problem]:
    """A /dev/shm that leaves little memory."""
    for container in pod.containers:
        volume = shared_memory.volume(pod, container)
        limit = shared_memory.memory_limit(pod, container)
        if volume is None or limit is None or not shared_memory.in_memory(volume):
            continue
        size = shared_memory.size(volume)
        if size is None or not limit[0] * context.parameters.percent / 100 < size <= limit[0]:
            continue
        percent = round(100 * size / limit[0])
        yield Problem(
            volume.at.child("emptyDir", "sizeLimit"),
            f"volume {volume.name} at /dev/shm may take {percent} percent of the memory limit of {limit[1]}",
            f"write a sizeLimit of at most {context.parameters.percent} percent, or raise the memory limit",
        )
