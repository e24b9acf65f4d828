"""A container asks for IPC_LOCK, as RDMA needs it, but its virtual functions have no RDMA device.

The SR-IOV device plugin puts the RDMA device of a function into the container only if the selectors of its pool say
`isRdma: true`; the default is false. Without it, the pod has the network interface and no `/dev/infiniband`:
`ibv_devices` lists nothing, and NCCL, UCX and perftest find no device.

The rule applies to adapters of NVIDIA (vendor `15b3`), whose DPDK driver needs the RDMA device, too, and to pools that
are in the files.

Write `"isRdma": true` into the selectors of the pool, or remove IPC_LOCK.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.sriov_pools import sriov_pools
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container

VENDOR = "15b3"


@rule(
    code="RD025",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/netdevice/pciNetDevice.go: NewPciNetDevice, isRdma",
        "github.com/Mellanox/network-operator pull 343",
    ),
    needs=("resourceList", "sriovDevicePlugin"),
)
def rdma_pool_without_devices(container: Container, context: Context) -> Iterator[Problem]:
    """Report pools whose functions come without the device that a container is set up for."""
    asked = [str(name) for name in container.limits if "/" in str(name) and parse_quantity(container.limits[name])]
    if "IPC_LOCK" not in container.capabilities or any(name.startswith("rdma/") for name in asked):
        return
    for name in asked:
        pools = list(sriov_pools(context.project, name))
        if pools and all(_is_without(selectors) for selectors, _ in pools):
            yield Problem(
                pools[0][1],
                f"the pool of {name} lacks `isRdma`, and container `{container.name}` has IPC_LOCK as for RDMA: it "
                "gets no RDMA device",
                'add `"isRdma": true`',
                related=((container.at.child("resources", "limits", name), "the container that requests it"),),
            )


def _is_without(selectors: Any) -> bool:
    vendors = cni.field_value(selectors, "vendors")
    return (
        isinstance(vendors, list)
        and vendors == [VENDOR]
        and cni.field_value(selectors, "isRdma") is None
        and cni.field_value(selectors, "vdpaType") is None
    )
