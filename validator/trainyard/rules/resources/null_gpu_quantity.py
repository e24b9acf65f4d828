"""A GPU quantity or an image is empty, so the pods come without their GPUs or are refused.

A key without a value is YAML's null, often what a template leaves of an unset value. The API server removes such a key
from the custom resources of training operators, and reads it as 0 in a `batch/v1` Job: `nvidia.com/gpu:` is accepted,
and the pods start without a GPU, on any node. An empty string is refused. A null or empty `image` is refused too: at
once by the API server or a webhook, or when the operator creates the pods (`image: Required value`).

An image in a TrainJob or its runtime is left alone, as the other one of the two may give it; that of a PyTorchJob
belongs to `pytorchjob-role-invalid`.

Write the number of devices and the image's name.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.facts.extended_resources import is_device, quantity_at
from validator.model import Container
from validator.rule import Context, Problem, rule

# Kinds whose image may come from elsewhere, or that another rule looks at.
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
    ),
)
def null_gpu_quantity(container: Container, context: Context) -> Iterator[Problem]:
    """A device or an image without a value."""
    for field, quantities in (("limits", container.limits), ("requests", container.requests)):
        for name, quantity in quantities.items():
            if is_device(name) and quantity in (None, ""):
                effect = "the pod comes without it" if quantity is None else "the API server refuses it"
                yield Problem(
                    quantity_at(context.run, context.role, container, field, name).key(),
                    f"{name} has no value: {effect}",
                    "write the number of devices, or leave the key out",
                )
    elsewhere = context.run is not None and context.run.kind in IMAGE_ELSEWHERE
    if not elsewhere and "image" in container.tree and container.tree["image"] in (None, ""):
        yield Problem(
            container.at.child("image").key(),
            f"container {container.name} has no image: Kubernetes refuses the pod",
            "write the image's name",
        )
