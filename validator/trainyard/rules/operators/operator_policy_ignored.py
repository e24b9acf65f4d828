"""The operator reads only one policy and ignores this one.

The network operator reads the NicClusterPolicy called `nic-cluster-policy`. Any other gets the state `ignore`, and the
operator deploys no driver, device plugin or network for it. The GPU operator reads one ClusterPolicy, the oldest; the
others get the state `ignored`. The API server accepts all of them, `kubectl apply` reports success, and nodes stay
without the devices that jobs ask for.

Name the NicClusterPolicy `nic-cluster-policy`, and keep one ClusterPolicy. For groups of nodes that differ, use
NVIDIADriver and NicNodePolicy.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Edit, SetValue
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource

NIC = "nic-cluster-policy"


@rule(
    code="GO008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "Mellanox/network-operator v26.4.1 controllers/nicclusterpolicy_controller.go: handleUnsupportedInstance",
        "NVIDIA/gpu-operator v26.7.0 controllers/clusterpolicy_controller.go: getSingletonClusterPolicy, gpuv1.Ignored",
    ),
    fix="safe",
    needs=("NicClusterPolicy", "ClusterPolicy"),
)
def operator_policy_ignored(resource: Resource, context: Context) -> Iterator[Problem]:
    """Policies that the operator ignores."""
    if resource.kind == "NicClusterPolicy" and resource.api_version.startswith("mellanox.com/"):
        yield from _misnamed(resource, context)
    if resource.kind == "ClusterPolicy" and resource.api_version.startswith("nvidia.com/"):
        yield from _second(resource, context)


def _misnamed(resource: Resource, context: Context) -> Iterator[Problem]:
    if resource.name in ("", NIC):
        return
    alone = len(context.project.of_kind("NicClusterPolicy")) == 1
    at = resource.at.child("metadata", "name")
    edits: tuple[Edit, ...] = (SetValue(at, NIC),) if alone else ()
    message = f"the network operator ignores a NicClusterPolicy called `{resource.name}`"
    yield Problem(at, message, f"name it `{NIC}`" if alone else f"move its settings into `{NIC}`", edits)


def _second(resource: Resource, context: Context) -> Iterator[Problem]:
    policies = context.project.of_kind("ClusterPolicy")
    first = next(one for one in policies if one.api_version.startswith("nvidia.com/"))
    if resource.at != first.at and resource.name != first.name:
        yield Problem(
            resource.at.child("metadata", "name"),
            "there are two ClusterPolicies: the GPU operator ignores all but the oldest",
            "keep one; use NVIDIADriver objects for groups of nodes that differ",
            related=((first.at.child("metadata", "name"), "the other ClusterPolicy"),),
        )
