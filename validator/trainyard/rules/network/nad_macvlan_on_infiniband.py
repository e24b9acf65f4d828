"""A macvlan network cannot use an InfiniBand interface: the kernel supports macvlan on Ethernet only.

`ib0`, `ibs10` and `ibp94s0` are the names that Linux gives to interfaces of IP over InfiniBand. Such an interface has
no Ethernet addresses, and the kernel returns `invalid argument` when the plugin creates a macvlan device on it. The
pod stays in `ContainerCreating` with `failed to create macvlan`.

On InfiniBand, NCCL needs no additional interface in the pod: it reaches the card through the RDMA device, and
exchanges addresses over the pod's `eth0`. If the pod needs an address there, use the `ipoib` plugin (IPoIBNetwork) or
`ib-sriov`. Macvlan is for RoCE, where the master is an Ethernet interface such as `ens1f0`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Project

INFINIBAND = re.compile(r"ib(\d+|[ps]\d\w*)(\.\w+)?$")


@rule(
    code="NT017",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "torvalds/linux drivers/net/macvlan.c: macvlan_port_create wants ARPHRD_ETHER",
        "Mellanox/k8s-rdma-shared-dev-plugin issue 95 and Mellanox/network-operator issue 1017",
    ),
    needs=("macvlan", "MacvlanNetwork"),
)
def nad_macvlan_on_infiniband(project: Project) -> Iterator[Problem]:
    """Report masters that are not Ethernet interfaces."""
    for master, place in _masters(project):
        if INFINIBAND.match(master):
            yield Problem(
                place,
                f"macvlan does not work on the InfiniBand interface {master}",
                "use the ipoib or ib-sriov plugin, or no network at all",
            )


def _masters(project: Project) -> Iterator[tuple[str, Place]]:
    for network in project.networks:
        for plugin, at in cni.plugins(network, "macvlan"):
            yield cni.field_text(plugin, "master"), at.child(cni.field_name(plugin, "master"))
    for resource in project.of_kind("MacvlanNetwork"):
        yield text(resource.tree, "spec", "master"), resource.at.child("spec", "master")
