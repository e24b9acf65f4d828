"""KubeRay rejects the cluster: a group of workers has a minimum above its maximum, or a negative number.

The number of pods of a group stays between `minReplicas` and `maxReplicas`. KubeRay does not start a cluster whose
minimum is larger than its maximum, or where one of them is negative: the object exists, without pods, and only an
event says why.

Write a maximum of at least the minimum.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import groups_of
from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=("ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go: ValidateRayClusterSpec",),
    needs=("minReplicas", "maxReplicas"),
)
def ray_group_bounds(resource: Resource) -> Iterator[Problem]:
    """Report bounds of a group that contradict each other."""
    for group in groups_of(resource):
        low, high = integer(group.tree, "minReplicas"), integer(group.tree, "maxReplicas")
        for field, value in (("minReplicas", low), ("maxReplicas", high)):
            if value is not None and value < 0:
                yield Problem(group.at.child(field), f"{field} is {value}: KubeRay rejects it", "write at least 0")
        if low is not None and high is not None and 0 <= high < low:
            yield Problem(
                group.at.child("minReplicas"),
                f"{group.title} has a minimum of {low} above its maximum of {high}: KubeRay rejects it",
                f"write a maxReplicas of at least {low}",
            )
