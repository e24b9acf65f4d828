"""A host-device network that does not say which network interface it means cannot be attached to any pod.

The host-device plugin moves one interface of the node into the pod and finds it by `device`, `hwaddr`, `kernelpath` or
`pciBusID`; or Multus passes the device that the device plugin gave, when the NetworkAttachmentDefinition carries the
annotation `k8s.v1.cni.cncf.io/resourceName`. With none of them the plugin stops. A `kernelpath` must begin with
`/sys/devices/`.

`device` is the name of a network interface as `ip link` lists it. `mlx5_0` is the name of an RDMA device
(`ibv_devices`), for which no such interface exists: the pod stays in `ContainerCreating`. The interface that belongs to
it is listed by `rdma link`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from validator.aspects import cni
from validator.model import Network
from validator.rule import Problem, rule

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
    """A host-device plugin that finds no interface."""
    for plugin, at in cni.plugins(network, "host-device"):
        if network.resource is not None:
            continue
        chosen = next((name for name in SELECTORS if cni.string(plugin, name)), None)
        if chosen is None:
            yield Problem(
                at.child("type"),
                "host-device is not told which interface to take",
                "set `device` or `pciBusID`, or annotate the network with the device plugin's resource",
            )
        elif fault := _fault(plugin, chosen):
            yield Problem(at.child(cni.key(plugin, chosen)), *fault)


def _fault(plugin: dict[str, Any], chosen: str) -> tuple[str, str] | None:
    given = cni.string(plugin, chosen)
    if chosen == "kernelpath" and not given.startswith("/sys/devices/"):
        return f"`kernelpath` {given} is not below /sys/devices/", "write the device's path in /sys/devices/"
    if chosen == "device" and RDMA_DEVICE.match(given):
        return (
            f"{given} is an RDMA device and no network interface",
            "write the interface that `rdma link` shows for it",
        )
    return None
