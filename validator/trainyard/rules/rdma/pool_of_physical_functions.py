"""The pool of the network selects physical functions, which the plugins `sriov` and `ib-sriov` cannot configure.

A physical function and its virtual functions have device IDs of their own: a ConnectX-5 is 1017, and its virtual
functions are 1018. A pool that selects 1017 offers whole adapters, and only those without virtual functions. The pod
gets one, the plugin finds no virtual function, and the pod stays in `ContainerCreating`.

Select the ID of the virtual functions, or use the plugin `host-device` to give whole adapters to pods.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.sriov_pools import sriov_pools
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.hardware.sriov_adapters import ADAPTERS
from trainyard.model.run import Network

# Physical functions of NVIDIA's adapters, each with the ID of its virtual functions.
VIRTUAL = ADAPTERS["15b3"]


@rule(
    code="RD024",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "linux drivers/net/ethernet/mellanox/mlx5/core/main.c: mlx5_core_pci_table",
        "k8snetworkplumbingwg/sriov-cni pkg/config/config.go: LoadConf needs a virtual function",
        "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issue 310",
    ),
    needs=("resourceList", "sriovDevicePlugin"),
)
def pool_of_physical_functions(network: Network, context: Context) -> Iterator[Problem]:
    """Report pools without a virtual function."""
    if network.resource is None or not any(cni.plugins(network, "sriov", "ib-sriov")):
        return
    pools = list(sriov_pools(context.project, network.resource))
    if pools and all(_is_physical(selectors) for selectors, _ in pools):
        selectors, at = pools[0]
        ids = cni.field_value(selectors, "devices")
        yield Problem(
            at.child(cni.field_name(selectors, "devices")),
            f"{network.resource} offers physical functions ({', '.join(ids)}), and {network.name} needs virtual ones",
            f"select {', '.join(dict.fromkeys(VIRTUAL[one.lower()] for one in ids))}",
        )


def _is_physical(selectors: Any) -> bool:
    ids = cni.field_value(selectors, "devices")
    return isinstance(ids, list) and bool(ids) and all(isinstance(one, str) and one.lower() in VIRTUAL for one in ids)
