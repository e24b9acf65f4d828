"""The head of the Ray cluster has too little memory, so it is killed at its start or soon after.

The head runs the control store, the dashboard with its agents, and in a RayService a proxy. A head of Ray 2.49 to 2.52
takes about 2.7 GiB before any work, that of a RayService 3.5 GB. With a limit of 2 GiB the kernel ends it
(`OOMKilled`), and without fault tolerance the whole cluster is lost. Older releases run out of 1 GiB. KubeRay raised
the limit in its samples to 4 GiB and then to 5 GiB.

The rule reports a limit of up to 2 GiB from Ray 2.34, and of up to 1 GiB before or if the release is not known.

Set the memory request and limit of the head to 5 GiB or more; Ray recommends 8 GB and more in production.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of
from trainyard.analysis.resources.requests import written
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# The release from which heads with 2 GiB were seen to run out of memory, and the limits that are too small.
NEWER = (2, 34)
# The first release whose heads were measured to take more.
MEASURED = (2, 49)
TOO_SMALL = 2 * 2**30
TOO_SMALL_BEFORE = 2**30


@rule(
    code="RY007",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/4287, pull/4288 and pull/4089: OOM with 2 GB, use of 2.7 to 3.5 GB",
        "github.com/ray-project/kuberay/pull/2305: a head of Ray 2.34 with 2Gi runs out of memory",
        "github.com/ray-project/kuberay/issues/528 and pull/761: a head with less than 2 GB runs out of memory",
    ),
    needs=("headGroupSpec",),
)
def ray_head_memory_too_small(resource: Resource) -> Iterator[Problem]:
    """Report heads with too little memory."""
    cluster = cluster_of(resource)
    head = cluster.groups[0] if cluster is not None else None
    limit = head.quantity("limits", "memory") if head is not None else None
    if cluster is None or head is None or limit is None:
        return
    if limit <= _too_small(cluster.release):
        yield Problem(
            head.container_at.child("resources", "limits", "memory"),
            f"a Ray head with {written(limit, 'memory')} of memory {_fate(cluster.release, limit)} (OOMKilled)",
            "set the memory request and limit to 5Gi or more",
        )


def _too_small(release: tuple[int, ...] | None) -> float:
    """Returns the largest limit that is too small."""
    return TOO_SMALL if release is not None and release >= NEWER else TOO_SMALL_BEFORE


def _fate(release: tuple[int, ...] | None, limit: float) -> str:
    is_sure = limit <= TOO_SMALL_BEFORE or (release is not None and release >= MEASURED)
    return "is killed at its start or soon after" if is_sure else "has no reserve: others of this release were killed"
