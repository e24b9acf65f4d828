"""Ray's object store is larger than the memory that the container has for certain.

The store is a file in /dev/shm, which KubeRay makes as large as the memory limit, or the request if there is no limit.
A store of this size or more does not fit: Ray ends with `The configured object store size exceeds /dev/shm size`, or
uses /tmp, which is slow. A store above the memory request fits in no memory that the pod has reserved: its pages are
memory of the pod and cannot be swapped out, so a full node evicts the pod or ends it. Early releases of KubeRay made
/dev/shm as large as the request.

Remove `object-store-memory`: Ray then takes 30% of the memory. Or set the memory request and limit to the same value,
well above the store.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of
from trainyard.analysis.resources.requests import written
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Resource

PARAMETER = "object-store-memory"


@rule(
    code="RY004",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/201: the store exceeds /dev/shm of the size of the request",
        "github.com/ray-project/kuberay/pull/332: requests equal to limits are the surest for Ray",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: makeEmptyDirVolume",
    ),
    needs=(PARAMETER,),
)
def ray_object_store_too_large(resource: Resource) -> Iterator[Problem]:
    """Report object stores that exceed the memory."""
    cluster = cluster_of(resource)
    for group in cluster.groups if cluster is not None else ():
        size = parse_quantity(group.start.get(PARAMETER))
        limit = group.quantity("limits", "memory")
        request = group.quantity("requests", "memory")
        least, field = (limit, "limit") if request is None else (request, "request")
        if limit is not None and size is not None and size >= limit:
            least, field = limit, "limit"
        if size is None or least is None or size < least or "plasma-directory" in group.start:
            continue
        yield Problem(
            group.at.child("rayStartParams", PARAMETER),
            f"an object store of {written(size, 'memory')} does not fit in the memory {field} of "
            f"{written(least, 'memory')}",
            f"remove {PARAMETER}, or set the memory request and limit well above it",
            related=((group.container_at.child("resources", f"{field}s", "memory"), f"the memory {field}"),),
        )
