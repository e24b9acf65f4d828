"""The GPU operator detects the container runtime of each node, so `operator.defaultRuntime` has no effect.

The field stays in the API of the operator, and many files still have it. Since v26.3 its value changes nothing, so
nothing is lost either.

Remove the field.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Remove
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource


@rule(
    code="GO023",
    severity="info",
    confidence="high",
    since="0.4.0",
    sources=("NVIDIA/gpu-operator v26.7.0 api/nvidia/v1/clusterpolicy_types.go: OperatorSpec, Deprecated",),
    fix="safe",
    needs=("ClusterPolicy",),
)
def gpuop_runtime_detected(resource: Resource) -> Iterator[Problem]:
    """Report a runtime that the operator does not read."""
    if resource.kind != "ClusterPolicy" or not resource.api_version.startswith("nvidia.com/"):
        return
    if "defaultRuntime" in mapping(resource.tree, "spec", "operator"):
        at = resource.at.child("spec", "operator", "defaultRuntime")
        yield Problem(
            at.key(),
            "the GPU operator ignores `operator.defaultRuntime`: it detects the container runtime of each node",
            "remove it",
            (Remove(at),),
        )
