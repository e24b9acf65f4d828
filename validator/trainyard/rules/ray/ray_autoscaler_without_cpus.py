"""Ray's autoscaler does not know how many CPUs the pods of this group have, so it fails and restarts repeatedly.

With `enableInTreeAutoscaling` the autoscaler reads the CPUs of each group, the head included, from `num-cpus` in
`rayStartParams`, or from the resources of the first container: the limit, and after Ray 2.40 the request. Without
any of them it ends with `Autoscaler failed to detect CPU resources for group`, or with a `KeyError`, and adds no
worker.

State limits for CPU and memory in the first container of each group. `num-cpus: "0"` on the head keeps tasks away.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# The last release that certainly reads the limits alone.
LIMITS_ALONE = (2, 40)


@rule(
    code="RY005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/kuberay/issues/1943: the autoscaler crashes without limits on the head",
        "ray-project/ray python/ray/autoscaler/_private/kuberay/autoscaling_config.py: _get_num_cpus",
        "github.com/ray-project/kuberay issue 2612: Ray 2.38 reads the limit alone",
    ),
    needs=("enableInTreeAutoscaling",),
)
def ray_autoscaler_without_cpus(resource: Resource) -> Iterator[Problem]:
    """Report groups without a number of CPUs."""
    cluster = cluster_of(resource)
    for group in cluster.groups if cluster is not None and cluster.is_autoscaled else ():
        resources = mapping(group.container, "resources")
        given = [field for field in ("limits", "requests") if "cpu" in mapping(resources, field)]
        # `resources` of the group itself takes the place of those of the container.
        if not group.container or "num-cpus" in group.start or "resources" in group.tree or "limits" in given:
            continue
        if given and (cluster is None or cluster.release is None or cluster.release > LIMITS_ALONE):
            continue
        what = "has a request of CPUs but no limit" if given else "requests no CPUs"
        yield Problem(
            group.container_at.child("resources"),
            f"{group.title} {what}: the autoscaler fails and restarts repeatedly",
            "set resources.limits for CPU and memory",
        )
