"""`rayVersion` is not the version in the image, so KubeRay configures the pods for another release.

KubeRay cannot look into the image. It takes from `rayVersion` which features the release has: the health checks of the
pods, the autoscaler, and authentication with tokens. With a version that is not that of the image it may use an
endpoint that does not exist, and the pods are restarted as unhealthy. The rule reads the tags of Ray's own images.

Write the version of the image.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.ray import cluster_of, image_version
from trainyard.document.document import SetValue
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="RY016",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go: supportsUnifiedHealthCheck(rayVersion)",
        "ray-project/kuberay v1.7.0 ray-operator/config/samples: rayVersion should match the version in the image",
    ),
    fix="unsafe",
    needs=("rayVersion",),
)
def ray_version_not_of_image(resource: Resource) -> Iterator[Problem]:
    """Report a version of Ray that the head's image does not have."""
    cluster = cluster_of(resource)
    if cluster is None:
        return
    head = cluster.groups[0]
    told, owned = text(cluster.tree, "rayVersion"), image_version(text(head.container, "image"))
    if told and owned is not None and told.removeprefix("v") != owned and told[:1].isdigit():
        place = cluster.at.child("rayVersion")
        yield Problem(
            place,
            f"rayVersion is {told}, but the image of {head.title} has Ray {owned}",
            f'write "{owned}"',
            (SetValue(place, owned),),
            ((head.container_at.child("image"), "the image"),),
        )
