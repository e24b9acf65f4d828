"""A quota or a queue counts a resource by a name that no device plugin offers, so it limits or admits nothing.

A ResourceQuota with `requests.nvidia.com/gpumemory` leaves the `nvidia.com/gpumem` of pods unlimited. A ClusterQueue
of Kueue without the resource of a job never admits the job, and a queue of Volcano that caps `nvidia.com/gpus` caps
no GPU.

The rule looks at ResourceQuotas, LimitRanges, ClusterQueues and the queues of Volcano. It knows the names that RS022
knows for containers.

Write the name as the device plugin and the pods have it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.resources.resource_names import unknown
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_LIMITS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_SHARES = ("capability", "deserved", "guarantee")


@rule(
    code="RS023",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubernetes.io/docs/concepts/policy/resource-quotas: quota for extended resources",
        "kueue.sigs.k8s.io/docs/concepts/cluster_queue: coveredResources",
        "github.com/Project-HAMi/HAMi issue 893 and pull 2242",
    ),
    needs=("ResourceQuota", "LimitRange", "ClusterQueue", "scheduling.volcano.sh"),
)
def counted_resource_unknown(resource: Resource) -> Iterator[Problem]:
    """Report names in quotas and queues that no node has."""
    for name, at in _names(resource):
        bare = name.removeprefix("requests.").removeprefix("limits.")
        found = unknown(bare) if "/" in bare else None
        if found is not None:
            said, meant = found
            yield Problem(
                at,
                f"{said}: {resource.kind} {resource.name} counts nothing with this name",
                f"write `{meant}`" if meant else "",
            )


def _names(resource: Resource) -> Iterator[tuple[str, Place]]:
    """Yields the names of the resources that an object counts."""
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    if resource.kind == "ResourceQuota":
        yield from _keys(mapping(spec, "hard"), at.child("hard"))
    elif resource.kind == "LimitRange":
        for index, one in enumerate(items(spec, "limits")):
            for field in _LIMITS:
                yield from _keys(mapping(one, field), at.child("limits", index, field))
    elif resource.kind == "ClusterQueue":
        for index, one in enumerate(items(spec, "resourceGroups")):
            for number, name in enumerate(items(one, "coveredResources")):
                yield str(name), at.child("resourceGroups", index, "coveredResources", number)
    elif resource.kind == "Queue" and resource.api_version.startswith("scheduling.volcano.sh/"):
        for field in _SHARES:
            yield from _keys(mapping(spec, field), at.child(field))


def _keys(amounts: dict[str, Any], at: Place) -> Iterator[tuple[str, Place]]:
    yield from ((str(name), at.child(name).key()) for name in amounts)
