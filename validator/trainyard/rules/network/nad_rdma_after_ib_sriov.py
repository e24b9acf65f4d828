"""The plugin `rdma` follows `ib-sriov` in the chain, which the two do not support.

`rdma` moves the RDMA device of a virtual function into the pod. On InfiniBand, the kernel then creates the IPoIB
interface again, so the addresses and the name that `ib-sriov` gave it are lost. The documentation of `rdma` names
`sriov` alone as the plugin before it.

Remove `rdma`, and write `rdmaIsolation: true` for `ib-sriov`, which then moves the RDMA device itself. NT005 reports
the plugin `rdma` beside `rdmaIsolation`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network


@rule(
    code="NT070",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/rdma-cni README.md: SR-IOV CNI for Ethernet, and pull 21, which removed ib-sriov-cni",
        "k8snetworkplumbingwg/ib-sriov-cni README.md: rdmaIsolation",
    ),
    needs=("ib-sriov",),
)
def nad_rdma_after_ib_sriov(network: Network) -> Iterator[Problem]:
    """Report chains of the plugins ib-sriov and rdma."""
    for first, _ in cni.plugins(network, "ib-sriov"):
        if cni.field_value(first, "rdmaIsolation") is not True:
            for second, at in cni.plugins(network, "rdma"):
                yield Problem(
                    at.child(cni.field_name(second, "type")),
                    "`rdma` after `ib-sriov` is not supported: the IPoIB interface loses its addresses",
                    "remove it, and write `rdmaIsolation: true` for `ib-sriov`",
                )
