"""The operator looks at one policy only, and this is not the one: nothing of it is done.

The network operator reads the NicClusterPolicy called `nic-cluster-policy`; any other gets the state `ignore`, and no
driver, no device plugin and no network comes of it. The GPU operator takes one ClusterPolicy, the oldest; the others
get the state `ignored`. The API server accepts them all, `kubectl apply` reports success, and nodes stay without the
devices that jobs ask for.

Call the NicClusterPolicy `nic-cluster-policy`, and keep one ClusterPolicy. For groups of nodes that differ there are
NVIDIADriver and NicNodePolicy.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.model import Resource
from validator.rule import Context, Edit, Problem, SetValue, rule

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
    """Policies beside the one that counts."""
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
    yield Problem(at, message, f"call it `{NIC}`" if alone else f"move what it asks for into `{NIC}`", edits)


def _second(resource: Resource, context: Context) -> Iterator[Problem]:
    policies = [one for one in context.project.of_kind("ClusterPolicy") if one.api_version.startswith("nvidia.com/")]
    first = policies[0]
    if resource.at != first.at and resource.name != first.name:
        yield Problem(
            resource.at.child("metadata", "name"),
            "there are two ClusterPolicies: the GPU operator ignores all but the oldest",
            "keep one; an NVIDIADriver says what differs between groups of nodes",
            related=((first.at.child("metadata", "name"), "the other one"),),
        )
