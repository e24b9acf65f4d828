"""The ib-sriov plugin takes no DHCP addresses, and with its own RDMA isolation no second RDMA plugin.

DHCP identifies a client by its Ethernet address, which an InfiniBand port does not have: `ib-sriov` refuses `ipam` of
the type `dhcp`, and the pod stays in `ContainerCreating`. With `vfioPciMode` the plugin makes no interface and ignores
`ipam`, so this is left alone.

With `rdmaIsolation: true` the plugin itself moves the RDMA device into the pod. A `rdma` plugin in the same chain looks
for the device on the host, where it is no longer; its documentation rules the combination out.

Use `whereabouts` or `nv-ipam` for addresses, and either `rdmaIsolation` or the `rdma` plugin.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import cni
from validator.model import Network
from validator.rule import Problem, rule


@rule(
    code="NT005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/ib-sriov-cni cmd/ib-sriov-cni/main.go: runIPAMPlugin, handleVFAdd",
        "k8snetworkplumbingwg/ib-sriov-cni README.md: ipam, rdmaIsolation",
    ),
)
def nad_ib_sriov_dhcp(network: Network) -> Iterator[Problem]:
    """What ib-sriov cannot be combined with."""
    for plugin, at in cni.plugins(network, "ib-sriov"):
        ipam = cni.value(plugin, "ipam")
        if cni.value(ipam, "type") == "dhcp" and cni.value(plugin, "vfioPciMode") is not True:
            yield Problem(
                at.child(cni.key(plugin, "ipam"), cni.key(ipam, "type")),
                "ib-sriov does not support DHCP: pods on this network cannot be created",
                "use whereabouts or nv-ipam",
            )
        if cni.value(plugin, "rdmaIsolation") is True:
            for _, second in cni.plugins(network, "rdma"):
                yield Problem(
                    second.child("type"),
                    "ib-sriov with rdmaIsolation has already moved the RDMA device that this plugin looks for",
                    "remove the rdma plugin, or `rdmaIsolation`",
                )
