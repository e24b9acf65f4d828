"""The network of type `sriov` takes virtio devices, which are no virtual functions, so no pod starts.

The plugin `sriov` configures a virtual function through its physical function. A virtio device of a virtual machine
(vendor 1af4) has none: the plugin fails with `failed to get the PF`, and the pod stays in `ContainerCreating`.

The rule joins the configuration of the SR-IOV device plugin with the networks that name its resource. It applies if
all selectors of the pool name the vendor 1af4 alone.

Use the plugin `host-device`, which moves the device into the pod as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.analysis.resources.sriov_pools import sriov_pools
from trainyard.document.lookup import items
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Network, Project

VIRTIO = "1af4"


@rule(
    code="NT032",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-cni pkg/config/config.go: LoadConf reads the physical function of the device",
        "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issue 352",
    ),
    needs=(
        "1af4",
        "1AF4",
    ),
)
def sriov_network_of_virtio(network: Network, context: Context) -> Iterator[Problem]:
    """Report SR-IOV networks of virtio devices."""
    if not network.resource or not _is_virtio(network.resource, context.project):
        return
    for plugin, at in cni.plugins(network, "sriov", "ib-sriov"):
        name = cni.field_name(plugin, "type")
        message = f"the devices of `{network.resource}` are virtio devices, which have no physical function"
        yield Problem(at.child(name), message, "write `host-device`: type `sriov` needs virtual functions")


def _is_virtio(resource: str, project: Project) -> bool:
    found = sriov_pools(project, resource)
    vendors = [{str(vendor).lower() for vendor in items(tree, "vendors")} for tree, _ in found]
    return bool(vendors) and all(one == {VIRTIO} for one in vendors)
