"""`resources` of the whole pod names a device: the API server refuses the pod.

Kubernetes 1.34 takes `resources` beside `containers`, for the pod as a whole. There, only `cpu`, `memory` and huge
pages are allowed, since devices belong to one container. The usual cause is a `resources` that slipped out of its
container by one level of indentation. Older releases drop the field, and the container runs without its GPU.

Move `resources` into the container.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.model.run import Pod


@rule(
    code="RS012",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 staging/src/k8s.io/component-helpers/resource/helpers.go: supportedPodLevelResources",
        "github.com/aws/eks-distro-prow-jobs pull 59",
    ),
)
def pod_level_device(pod: Pod) -> Iterator[Problem]:
    """Report a device among the resources of a pod."""
    if "resources" not in pod.tree:
        return
    names = (name for field in ("limits", "requests") for name in mapping(pod.tree, "resources", field))
    device = next(filter(is_device, names), None)
    if device is not None:
        message = f"`resources` of the pod as a whole cannot have {device}: the API server refuses the pod"
        at = pod.at.child("resources").key()
        yield Problem(at, message, "move `resources` into the container that needs the device")
