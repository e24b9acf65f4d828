"""KubeRay rejects a RayService whose head service has a name.

A RayService moves between two clusters when it is updated, each with a head service of its own name, and a service
`<name>-head-svc` that stays. `headService.metadata.name` in `rayClusterConfig` would give both the same name, so the
operator reports `headService.metadata.name should not be set` and creates nothing.

Remove the name. Clients use `<RayService>-head-svc`, and `<RayService>-serve-svc` for requests.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/awslabs/ai-on-eks/issues/169: the operator refuses headService.metadata.name",
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/utils/validation.go: ValidateRayServiceSpec",
    ),
    needs=("headService",),
)
def ray_head_service_named(resource: Resource) -> Iterator[Problem]:
    """Report names of head services."""
    cluster = cluster_of(resource) if resource.kind == "RayService" else None
    path = ("headService", "metadata", "name")
    if cluster is not None and text(cluster.groups[0].tree, *path):
        yield Problem(
            cluster.groups[0].at.child(*path),
            "KubeRay rejects a RayService with a name in headService.metadata",
            f"remove the name: clients use `{resource.name}-head-svc`",
        )
