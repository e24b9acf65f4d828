"""An SR-IOV network without a resource name gets no virtual function, and its pods cannot be created.

The CNI plugins `sriov` and `ib-sriov` need the PCI address of a virtual function. Multus passes them the device that
the device plugin gave to the pod, and it finds that device by the annotation `k8s.v1.cni.cncf.io/resourceName` of the
NetworkAttachmentDefinition. Without it the plugin stops with `VF pci addr is required` (or `deviceID is required`) and
the pod stays in `ContainerCreating`.

A configuration that names one `deviceID` itself is left alone, though it fits a single node only; so is a network that
a resource claim of the SR-IOV DRA driver names, for that driver passes the device itself.

Add the annotation with the name of the resource that the SR-IOV device plugin offers, and request the same resource in
the container.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import cni
from validator.model import Network, Project
from validator.roads.manifest import RESOURCE_NAME
from validator.rule import Context, Problem, rule


@rule(
    code="NT002",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-cni v2.10.0 pkg/config/config.go: LoadConf",
        "k8snetworkplumbingwg/ib-sriov-cni pkg/config/config.go: LoadDeviceInfo",
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate",
        "k8snetworkplumbingwg/dra-driver-sriov README: netAttachDefName",
    ),
)
def nad_missing_resource_name(network: Network, context: Context) -> Iterator[Problem]:
    """An SR-IOV plugin that is not told its device."""
    if network.resource is not None or _is_claimed(network, context.project):
        return
    for plugin, _ in cni.plugins(network, "sriov", "ib-sriov"):
        if not cni.string(plugin, "deviceID"):
            kind = cni.string(plugin, "type")
            yield Problem(
                network.at.child("metadata", "annotations", RESOURCE_NAME),
                f"the plugin {kind} of network {network.name} gets no virtual function: {RESOURCE_NAME} is missing",
                f"add the annotation `{RESOURCE_NAME}: <prefix>/<resource>` with the device plugin's resource",
            )


def _is_claimed(network: Network, project: Project) -> bool:
    claims = [str(resource.tree) for resource in project.of_kind("ResourceClaim", "ResourceClaimTemplate")]
    return any("netAttachDefName" in claim and network.name in claim for claim in claims)
