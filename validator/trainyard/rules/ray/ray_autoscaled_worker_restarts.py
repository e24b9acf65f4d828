"""Ray's autoscaler needs workers that are not restarted in place, so `restartPolicy` of a worker group must be Never.

A worker whose container restarts keeps its pod, its name and its address. The autoscaler takes the pod for the old
worker: it does not remove it when it is idle. KubeRay rejects the cluster if `autoscalerOptions.version` is v2, and
emits a warning event otherwise. The operator of a later release than v1.7 allows restarts from Ray 2.56 with v2.

Remove `restartPolicy`, or set it to Never. The autoscaler replaces workers that fail.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

# The first release of Ray whose autoscaler v2 takes a worker that was restarted for a new one.
FLEXIBLE = (2, 56)


@rule(
    code="RY006",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/ray-project/ray/pull/64900 and 64855: both autoscalers require restartPolicy Never on workers",
        "github.com/ray-project/kuberay/pull/4816: later releases allow restarts from Ray 2.56",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go: ValidateRayClusterSpec",
    ),
    needs=("enableInTreeAutoscaling",),
)
def ray_autoscaled_worker_restarts(resource: Resource) -> Iterator[Problem]:
    """Report autoscaled workers that restart in place."""
    cluster = cluster_of(resource)
    if cluster is None or not cluster.is_autoscaled:
        return
    version = text(cluster.tree, "autoscalerOptions", "version")
    if version != "v1" and cluster.release is not None and cluster.release >= FLEXIBLE:
        return
    for group in cluster.groups:
        policy = text(group.pod, "restartPolicy")
        if not group.is_head and policy in ("Always", "OnFailure"):
            yield Problem(
                group.pod_at.child("restartPolicy"),
                f"the autoscaler does not remove workers with restartPolicy {policy} once they were restarted",
                "set restartPolicy: Never",
            )
