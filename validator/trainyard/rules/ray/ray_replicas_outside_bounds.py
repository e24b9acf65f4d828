"""The number of workers is outside of the group's bounds, so KubeRay starts another number of pods.

KubeRay keeps the pods of a group between `minReplicas` and `maxReplicas`, also without the autoscaler: of `replicas:
8` with `maxReplicas: 4` it starts 4, and of `replicas: 1` with `minReplicas: 2` it starts 2. A training that asks Ray
for eight workers then waits for resources that never come.

Write bounds that contain the number. For a group of a fixed size all three are equal.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY012",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=("ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/util.go: GetWorkerGroupDesiredReplicas",),
    needs=("minReplicas", "maxReplicas"),
)
def ray_replicas_outside_bounds(resource: Resource) -> Iterator[Problem]:
    """Report a number of workers that KubeRay changes."""
    for group in groups_of(resource):
        wanted = integer(group.tree, "replicas")
        low, high = integer(group.tree, "minReplicas"), integer(group.tree, "maxReplicas")
        if wanted is None or (low is not None and high is not None and low > high):
            continue
        least, most = low if low is not None else 0, high if high is not None else wanted
        if not least <= wanted <= most:
            given = least if wanted < least else most
            bound = "minReplicas" if wanted < least else "maxReplicas"
            yield Problem(
                group.at.child("replicas"),
                f"{group.title} gets {given} workers instead of {wanted}, because of {bound}",
                f"write a {bound} that allows {wanted}",
                related=((group.at.child(bound), "the bound"),),
            )
