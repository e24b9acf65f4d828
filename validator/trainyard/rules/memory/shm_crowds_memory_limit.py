"""The volume at /dev/shm can take most of the memory limit, which leaves little for the processes.

The pages of a memory-backed volume count as memory of the container that wrote them. Training processes also need
memory for their own tensors, pinned buffers, the page cache of the data they read, and offloaded optimizer states. If
`/dev/shm` can take more than a fraction of the limit (three quarters of it, unless configured otherwise), a full volume
and a normal step together exceed the limit and the container is killed with `OOMKilled`.

The rule needs `--pedantic`: few programs fill the volume.

Write a smaller `sizeLimit`, or raise the memory limit. `shm-exceeds-memory-limit` reports a `sizeLimit` above the
limit.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources import shared_memory
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Pod
from trainyard.startup import NamedTuple


class Share(NamedTuple):
    """`percent`: the maximum size of /dev/shm, in percent of the memory limit."""

    percent: int = 75


@rule(
    code="SH005",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "policy: a quarter of the memory is for the processes",
        "kubernetes v1.34.4 pkg/volume/emptydir/empty_dir.go: calculateEmptyDirMemorySize",
    ),
    parameters=Share(),
    needs=("emptyDir",),
)
def shm_crowds_memory_limit(pod: Pod, context: Context) -> Iterator[Problem]:
    """Report a /dev/shm that leaves too little memory for the processes."""
    for container in pod.containers:
        volume = shared_memory.shm_volume(pod, container)
        limit = shared_memory.memory_limit(pod, container)
        if volume is None or limit is None or not shared_memory.in_memory(volume):
            continue
        size = shared_memory.size_limit(volume)
        if size is None or not limit[0] * context.parameters.percent / 100 < size <= limit[0]:
            continue
        percent = round(100 * size / limit[0])
        yield Problem(
            volume.at.child("emptyDir", "sizeLimit"),
            f"volume {volume.name} at /dev/shm can take {percent} percent of the memory limit of {limit[1]}",
            f"write a sizeLimit of at most {context.parameters.percent} percent, or raise the memory limit",
        )
