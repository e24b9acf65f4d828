"""The host-device plugin cannot tell which interface to use, so no pod can attach to the network.

The host-device plugin moves one interface of the node into the pod and finds it by `device`, `hwaddr`, `kernelpath` or
`pciBusID`. Alternatively, Multus passes the device that the device plugin allocated, if the
NetworkAttachmentDefinition has the annotation `k8s.v1.cni.cncf.io/resourceName`. With none of them the plugin stops. A
`kernelpath` must begin with `/sys/devices/`.

`device` is the name of a network interface as listed by `ip link`. `mlx5_0` is the name of an RDMA device
(`ibv_devices`), and no interface has this name: the pod stays in `ContainerCreating`. `rdma link` lists the interface
of an RDMA device.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Network

SELECTORS = ("device", "hwaddr", "kernelpath", "pciBusID")
RDMA_DEVICE = re.compile(r"((mlx[45]|bnxt_re|irdma)_?\d+|(roce|rdma)p\d+s\d+(f\d+)?)$")


@rule(
    code="NT008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "containernetworking/plugins v1.9.1 plugins/main/host-device/host-device.go: loadConf, getLink",
        "k8snetworkplumbingwg/multus-cni v4.3.0 pkg/types/conf.go: delegateAddDeviceID",
    ),
)
def nad_host_device_selector(network: Network) -> Iterator[Problem]:
    """Report a host-device plugin that finds no interface."""
    if network.resource is not None:
        return
    for plugin, at in cni.plugins(network, "host-device"):
        chosen = next((name for name in SELECTORS if cni.field_text(plugin, name)), None)
        if chosen is None:
            yield Problem(
                at.child("type"),
                "host-device has no field that selects an interface",
                "set `device` or `pciBusID`, or annotate the network with the device plugin's resource",
            )
        elif fault := _fault(plugin, chosen):
            yield Problem(at.child(cni.field_name(plugin, chosen)), *fault)


def _fault(plugin: dict[str, Any], chosen: str) -> tuple[str, str] | None:
    given = cni.field_text(plugin, chosen)
    if chosen == "kernelpath" and not given.startswith("/sys/devices/"):
        return f"`kernelpath` {given} is not below /sys/devices/", "write the device's path below /sys/devices/"
    if chosen == "device" and RDMA_DEVICE.match(given):
        return (
            f"{given} is an RDMA device, not a network interface",
            "write the interface that `rdma link` shows for it",
        )
    return None
