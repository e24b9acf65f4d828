"""A network takes its devices from a resource that no device plugin in the files offers, so no pod can join it.

Multus hands a pod's device to the plugin by the resource that the network names: the annotation
`k8s.v1.cni.cncf.io/resourceName` of a NetworkAttachmentDefinition with its prefix, `resourceName` of a SriovNetwork,
SriovIBNetwork or OVSNetwork as a SriovNetworkNodePolicy has it, that of a HostDeviceNetwork as the SR-IOV device
plugin of a NicClusterPolicy has it, there under `nvidia.com`. A name that nobody offers cannot be asked for by a pod:
it stays Pending, or, when it asks for another, in `ContainerCreating` without a device for the interface.

The rule speaks where the files configure device plugins. Write the name as it is there.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.device_plugins import Offered, offered
from validator.fields import text
from validator.model import Resource
from validator.roads.manifest import RESOURCE_NAME
from validator.rule import Context, Problem, rule
from validator.source import Place
from validator.spelling import closest

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
    """Networks of a device that is not there."""
    found = _wanted(resource)
    if found is None:
        return
    name, at = found
    devices = offered(context.project)
    prefix, _, short = name.rpartition("/")
    if not _is_known(prefix, devices) or name in devices.names or short in devices.any_prefix:
        return
    known = sorted({*devices.any_prefix, *(other.rpartition("/")[2] for other in devices.names)})
    near = closest(short, known, 0.6)
    yield Problem(
        at,
        f"no device plugin in these files offers `{name}`: pods of the network {resource.name} get no device",
        f"did you mean `{near}`?" if near is not None else f"offered are {', '.join(known)}",
    )


def _wanted(resource: Resource) -> tuple[str, Place] | None:
    if resource.kind == "NetworkAttachmentDefinition":
        # The operators make networks of their own objects, which are looked at themselves.
        name, path = text(resource.tree, "metadata", "annotations", RESOURCE_NAME), ("metadata", "annotations")
        return (name, resource.at.child(*path, RESOURCE_NAME)) if "/" in name else None
    name, at = text(resource.tree, "spec", "resourceName"), resource.at.child("spec", "resourceName")
    if resource.kind in OF_POLICIES:
        return (name, at) if name else None
    if resource.kind == "HostDeviceNetwork" and name:
        return (name if name.startswith(f"{HOST_DEVICE_PREFIX}/") else f"{HOST_DEVICE_PREFIX}/{name}", at)
    return None


def _is_known(prefix: str, devices: Offered) -> bool:
    """Whether the files configure what offers devices under this prefix; a SriovNetwork's name has none."""
    return prefix in devices.prefixes if prefix else bool(devices.any_prefix)
