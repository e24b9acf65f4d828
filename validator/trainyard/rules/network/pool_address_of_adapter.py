"""A pool of virtual functions selects them by the address of their adapter, so it stays empty.

`pciAddresses` are the addresses of the devices that the pool offers. Those of virtual functions follow the one of
their adapter: for `0000:42:00.0` they begin at `0000:42:00.1` or later. With the id of virtual functions in `devices`,
the address of the adapter matches nothing, and the node offers no such resource.

The rule reports addresses of the form `*:00.0` beside ids of virtual functions.

Write `rootDevices` with the address of the adapter, or `pfNames` with the name of its interface.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.network import cni
from trainyard.analysis.resources.sriov_pools import all_selectors
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.sriov_adapters import FUNCTIONS
from trainyard.model.run import Resource

_VIRTUAL = frozenset(one for own in FUNCTIONS.values() for one in own)
_FIRST = ":00.0"


@rule(
    code="NT069",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "PCI Express Base Specification, Single Root I/O Virtualization: First VF Offset is not zero",
        "k8snetworkplumbingwg/sriov-network-device-plugin README.md: pciAddresses, rootDevices",
        "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issue 609",
    ),
    needs=("resourceList", "sriovDevicePlugin"),
)
def pool_address_of_adapter(resource: Resource) -> Iterator[Problem]:
    """Report addresses of adapters in pools of virtual functions."""
    for selectors, at in all_selectors(resource):
        devices, addresses = (cni.field_value(selectors, name) for name in ("devices", "pciAddresses"))
        if not isinstance(devices, list) or not isinstance(addresses, list) or not devices:
            continue
        first = next((one for one in addresses if isinstance(one, str) and one.endswith(_FIRST)), None)
        if first is not None and all(isinstance(one, str) and one.lower() in _VIRTUAL for one in devices):
            yield Problem(
                at.child(cni.field_name(selectors, "pciAddresses")),
                f"{first} is the address of an adapter, and `devices` selects virtual functions: it matches no device",
                "write it under `rootDevices`, or the addresses of the virtual functions",
            )
