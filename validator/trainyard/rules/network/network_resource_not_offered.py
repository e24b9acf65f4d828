"""A network uses a resource that no device plugin in the files offers, so no pod can join it.

Multus passes a pod's device to the plugin by the resource that the network names. In a NetworkAttachmentDefinition
this is the annotation `k8s.v1.cni.cncf.io/resourceName` with its prefix. In a SriovNetwork, SriovIBNetwork or
OVSNetwork it is the `resourceName` of a SriovNetworkNodePolicy. In a HostDeviceNetwork it is the `resourceName` of the
SR-IOV device plugin in a NicClusterPolicy, under `nvidia.com`. A pod that requests a resource that nothing offers
stays Pending; one that requests another resource stays in `ContainerCreating` without a device for the interface.

The rule applies if the files configure device plugins. Write the name as it is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.resources.device_plugins import Offered, offered
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.loaders.manifests.manifest import RESOURCE_NAME
from trainyard.model.run import Resource

OF_POLICIES = ("SriovNetwork", "SriovIBNetwork", "OVSNetwork")
HOST_DEVICE_PREFIX = "nvidia.com"


@rule(
    code="NT023",
    severity="warning",
    confidence="medium",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/k8sclient/k8sclient.go: getKubernetesDelegate, resourceName",
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go: RenderNetAttDef, SriovCniResourceName",
        "Mellanox/network-operator v26.4.1 pkg/state/state_hostdevice_network.go: resourceNamePrefix",
    ),
    needs=("resourceName",),
)
def network_resource_not_offered(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report networks of a device that nothing offers."""
    found = _wanted(resource)
    if found is None:
        return
    name, at = found
    devices = offered(context.project)
    prefix, _, short = name.rpartition("/")
    if not _is_known(prefix, devices) or name in devices.names or short in devices.any_prefix:
        return
    near = closest_match(short, devices.short, 0.6)
    yield Problem(
        at,
        f"no device plugin in these files offers `{name}`: pods of the network {resource.name} get no device",
        f"did you mean `{near}`?" if near is not None else f"resources offered: {format_list(sorted(devices.short))}",
    )


def _wanted(resource: Resource) -> tuple[str, Place] | None:
    if resource.kind == "NetworkAttachmentDefinition":
        # The operators create networks from their own objects, which are checked separately.
        name, path = text(resource.tree, "metadata", "annotations", RESOURCE_NAME), ("metadata", "annotations")
        return (name, resource.at.child(*path, RESOURCE_NAME)) if "/" in name else None
    name, at = text(resource.tree, "spec", "resourceName"), resource.at.child("spec", "resourceName")
    if resource.kind in OF_POLICIES:
        return (name, at) if name else None
    if resource.kind == "HostDeviceNetwork" and name:
        return (name if name.startswith(f"{HOST_DEVICE_PREFIX}/") else f"{HOST_DEVICE_PREFIX}/{name}", at)
    return None


def _is_known(prefix: str, devices: Offered) -> bool:
    """Return true if the files configure a device plugin with this prefix; a SriovNetwork's name has no prefix."""
    return prefix in devices.by_prefix if prefix else bool(devices.any_prefix)
