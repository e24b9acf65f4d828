"""The SR-IOV network has no resource name, so its pods get no virtual function and are not created.

The CNI plugins `sriov` and `ib-sriov` need the PCI address of a virtual function. Multus passes them the device that
the device plugin allocated to the pod, and it finds that device by the annotation `k8s.v1.cni.cncf.io/resourceName` of
the NetworkAttachmentDefinition. Without it the plugin stops with `VF pci addr is required` (or `deviceID is required`)
and the pod stays in `ContainerCreating`.

The rule skips a configuration with its own `deviceID`, though it is valid on a single node only. It also skips a
network that a resource claim or a device class of the SR-IOV DRA driver names, because that driver passes the device
itself.

Add the annotation with the name of the resource that the SR-IOV device plugin offers, and request the same resource in
the container.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.manifest import RESOURCE_NAME
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Network, Project
from trainyard.startup import pattern

_WORD = pattern(r"[\w.-]+")


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
    """Report an SR-IOV network without a device resource."""
    if network.resource is not None or _is_claimed(network, context.project):
        return
    for plugin, _ in cni.plugins(network, "sriov", "ib-sriov"):
        if not cni.field_text(plugin, "deviceID"):
            kind = cni.field_text(plugin, "type")
            yield Problem(
                network.at.child("metadata", "annotations", RESOURCE_NAME),
                f"{kind} of network {network.name} gets no virtual function: annotation {RESOURCE_NAME} is missing",
                f"add the annotation `{RESOURCE_NAME}: <prefix>/<resource>` with the device plugin's resource",
            )


def _is_claimed(network: Network, project: Project) -> bool:
    return network.name in _words_of_claims.of(project)


def _find_words(project: Project) -> frozenset[str]:
    """Returns the words of the claims and classes that name a network, whose configurations are texts."""
    kinds = ("ResourceClaim", "ResourceClaimTemplate", "DeviceClass")
    claims = (str(resource.tree) for resource in project.of_kind(*kinds))
    return frozenset(word for claim in claims if "netAttachDefName" in claim for word in _WORD.findall(claim))


_words_of_claims: LastIndex[Project, frozenset[str]] = LastIndex(_find_words)
