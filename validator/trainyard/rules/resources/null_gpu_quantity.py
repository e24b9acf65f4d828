"""A GPU quantity or an image is empty, so the pods get no GPU or are rejected.

A key without a value is null in YAML, often what a template renders for an unset value. The API server removes such a
key from the custom resources of training operators, and reads it as 0 in a `batch/v1` Job: `nvidia.com/gpu:` is
accepted, and the pods start without a GPU, on any node. It rejects an empty string. A null or empty `image` is rejected
too: at once by the API server or a webhook, or when the operator creates the pods (`image: Required value`).

The rule ignores an image in a TrainJob or its runtime, because either of the two may set it, an image that the
defaults of a chart leave empty for its users, and one that a trigger of a DeploymentConfig writes.
`pytorchjob-role-invalid` covers the image of a PyTorchJob.

Write the number of devices and the image's name.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.devices import quantity_at
from trainyard.document.lookup import items, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.extended_resources import is_device
from trainyard.model.run import Container, Run

# Kinds whose image may come from elsewhere, or that another rule checks.
IMAGE_ELSEWHERE = ("TrainJob", "TrainingRuntime", "ClusterTrainingRuntime", "PyTorchJob")


@rule(
    code="RS008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 apiextensions-apiserver pkg/apiserver/schema/defaulting/prunenulls.go",
        "kubernetes v1.34.4 apimachinery pkg/api/resource/quantity.go: UnmarshalJSON, ParseQuantity",
        "kubernetes v1.34.4 pkg/apis/core/validation/validation.go: validateContainerCommon",
        "openshift/openshift-apiserver pkg/apps/apis/apps/validation/validation.go: handleEmptyImageReferences",
    ),
)
def null_gpu_quantity(container: Container, context: Context) -> Iterator[Problem]:
    """A device or an image without a value."""
    for field, quantities in (("limits", container.limits), ("requests", container.requests)):
        for name, quantity in quantities.items():
            if is_device(name) and quantity in (None, ""):
                message = (
                    f"{name} is null, so the pod gets none"
                    if quantity is None
                    else f"{name} is an empty string: the API server rejects it"
                )
                yield Problem(
                    quantity_at(context.run, context.role, container, field, name).key(),
                    message,
                    "write the number of devices, or remove the key",
                )
    of_user = container.at.document.has_defaults_only
    run = context.run
    elsewhere = of_user or (run is not None and (run.kind in IMAGE_ELSEWHERE or _is_triggered(run, container)))
    if not elsewhere and "image" in container.tree and container.tree["image"] in (None, ""):
        yield Problem(
            container.at.child("image").key(),
            f"container {container.name} has an empty `image`: Kubernetes rejects the pod",
            "write the image's name",
        )


def _is_triggered(run: Run, container: Container) -> bool:
    """True if a trigger of a DeploymentConfig writes the image."""
    changes = (trigger for trigger in items(run.spec, "triggers") if text(trigger, "type") == "ImageChange")
    return any(container.name in items(change, "imageChangeParams", "containerNames") for change in changes)
