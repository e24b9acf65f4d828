"""The ib-sriov plugin rejects DHCP addresses, and with rdmaIsolation it conflicts with the rdma plugin.

DHCP identifies a client by its Ethernet address, which an InfiniBand port does not have: `ib-sriov` rejects `ipam` of
the type `dhcp`, and the pod stays in `ContainerCreating`. With `vfioPciMode` the plugin creates no interface and
ignores `ipam`, so this is not reported.

With `rdmaIsolation: true` the plugin itself moves the RDMA device into the pod. A `rdma` plugin in the same chain
looks for the device on the host, where it no longer is; its documentation rules the combination out.

Use `whereabouts` or `nv-ipam` for addresses, and `rdmaIsolation` without the `rdma` plugin. NT070 reports that plugin
without `rdmaIsolation`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network


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
    """Report DHCP or a second RDMA plugin on an ib-sriov network."""
    for plugin, at in cni.plugins(network, "ib-sriov"):
        ipam = cni.field_value(plugin, "ipam")
        if cni.field_value(ipam, "type") == "dhcp" and cni.field_value(plugin, "vfioPciMode") is not True:
            yield Problem(
                at.child(cni.field_name(plugin, "ipam"), cni.field_name(ipam, "type")),
                "ib-sriov does not support DHCP: pods on this network cannot be created",
                "use whereabouts or nv-ipam",
            )
        if cni.field_value(plugin, "rdmaIsolation") is True:
            for _, second in cni.plugins(network, "rdma"):
                yield Problem(
                    second.child("type"),
                    "ib-sriov with rdmaIsolation already moved the RDMA device, so this plugin will not find it",
                    "remove the rdma plugin",
                )
