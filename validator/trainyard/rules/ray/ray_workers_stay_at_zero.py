"""All groups of workers start with no replicas and may have some, but nothing adds workers: autoscaling is not enabled.

KubeRay makes as many workers as `replicas` says, 0 if it is not there, and at least `minReplicas`. `maxReplicas` is a
limit for the autoscaler of Ray, which KubeRay starts with `enableInTreeAutoscaling: true` alone. Without it, tasks that
ask for a GPU or for more than the head has wait for ever: "No available node types can fulfill resource request".

Enable the autoscaler, or write the number of workers in `replicas`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import Group, cluster_of
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

_AUTOSCALER = "enableInTreeAutoscaling"


@rule(
    code="RY036",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/util.go: GetWorkerGroupDesiredReplicas",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/util.go: IsAutoscalingEnabled",
        "github.com/ray-project/kuberay issue 321",
    ),
    needs=("workerGroupSpecs",),
)
def ray_workers_stay_at_zero(resource: Resource) -> Iterator[Problem]:
    """Report groups that never get a worker."""
    cluster = cluster_of(resource)
    if cluster is None or cluster.tree.get(_AUTOSCALER, False) is not False:
        return
    workers = [group for group in cluster.groups if not group.is_head]
    if not all(_has_none(group) for group in workers):
        return
    for group in workers:
        most = group.tree.get("maxReplicas")
        if isinstance(most, int) and most > 0:
            yield Problem(
                group.at.child("replicas"),
                f"{group.title} never gets a worker: it starts with none, and without the autoscaler nothing adds one",
                f"write `{_AUTOSCALER}: true` beside `workerGroupSpecs`, or `replicas: {most}`",
            )


def _has_none(group: Group) -> bool:
    """True if KubeRay certainly makes no worker of the group."""
    return group.tree.get("suspend") in (False, None) and all(
        group.tree.get(name) in (0, None) for name in ("replicas", "minReplicas")
    )
