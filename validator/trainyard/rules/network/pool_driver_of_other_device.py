"""A pool of the SR-IOV device plugin selects devices by a driver that they do not have, so it lacks these devices.

A device belongs to a pool if it fits all selectors. `drivers` is compared with the driver of the PCI device, which
`/sys/bus/pci/devices/<address>/driver` names: `mlx5_core` for ConnectX-4 and later, `mlx4_core` for ConnectX-3.
`mlx5_ib` and `mlx4_en` belong to layers above, although examples have them. The virtual functions of Intel have
`iavf` (`i40evf` before Linux 4.20), `ixgbevf` or `igbvf`. If no device is left, the plugin offers no such resource,
and pods stay Pending.

The rule compares well-known ids in `devices` with the drivers. `vfio-pci` and other drivers for any device fit each.

Write the driver of the device, or remove `drivers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.sriov_pools import all_selectors
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.hardware.sriov_drivers import ABOVE, ANY, DRIVERS
from trainyard.model.run import Resource


@rule(
    code="NT072",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/resources/deviceSelectors.go; pkg/utils: GetDriverName",
        "Linux v6.12 drivers/net/ethernet: PCI ids of mlx4, mlx5, iavf, ixgbevf and igbvf",
        "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issues 159, 189 and 223",
    ),
    needs=("resourceList", "sriovDevicePlugin"),
)
def pool_driver_of_other_device(resource: Resource) -> Iterator[Problem]:
    """Report drivers that a selected device does not have."""
    for selectors, at in all_selectors(resource):
        drivers = _texts(selectors, "drivers")
        if not drivers or any(driver in ANY for driver in drivers):
            continue
        place = at.child(cni.field_name(selectors, "drivers"))
        for device, right in _known(selectors):
            if not any(driver in right for driver in drivers):
                yield Problem(
                    place,
                    f"the driver of device {device} is {' or '.join(right)}, not {format_list(drivers)}: "
                    "the pool has no such device",
                    f"add `{right[0]}`",
                )
                break
        else:
            if all(driver in ABOVE for driver in drivers):
                right = tuple(dict.fromkeys(ABOVE[driver] for driver in drivers))
                message = f"no PCI device has the driver {format_list(drivers)}: the pool is empty"
                yield Problem(place, message, f"write `{right[0]}`")


def _known(selectors: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the devices that are known, with their drivers."""
    vendors = _texts(selectors, "vendors") or sorted({vendor for vendor, _ in DRIVERS})
    for device in _texts(selectors, "devices"):
        found = [DRIVERS[one, device] for one in vendors if (one, device) in DRIVERS]
        if len(found) == 1:
            yield device, found[0]


def _texts(selectors: Any, name: str) -> list[str]:
    written = cni.field_value(selectors, name)
    return [str(one).lower() for one in written] if isinstance(written, list) else []
