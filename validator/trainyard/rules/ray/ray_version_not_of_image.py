"""`rayVersion` is not the version in the image, so KubeRay configures the pods for another release.

KubeRay cannot look into the image. It takes from `rayVersion` which features the release has: the health checks of the
pods, the autoscaler, and authentication with tokens. With a version that is not that of the image it may use an
endpoint that does not exist, and the pods are restarted as unhealthy. The rule reads the tags of Ray's own images.

Write the version of the image.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.ray_clusters import cluster_of, groups_of, image_version
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
    found, head = cluster_of(resource), next(groups_of(resource), None)
    if found is None or head is None or not head.containers:
        return
    cluster, at = found
    told, owned = text(cluster, "rayVersion"), image_version(text(head.containers[0], "image"))
    if told and owned is not None and told.removeprefix("v") != owned and told[:1].isdigit():
        place = at.child("rayVersion")
        yield Problem(
            place,
            f"rayVersion is {told}, but the image of {head.name} has Ray {owned}",
            f'write "{owned}"',
            (SetValue(place, owned),),
            ((head.containers_at.child(0, "image"), "the image"),),
        )
