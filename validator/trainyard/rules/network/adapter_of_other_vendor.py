"""The selector has the device id of one vendor beside the id of another one, so it matches no device.

A device matches if it has the vendor and the device id of the selector. `158b` is an adapter of Intel (`8086`) and
`1021` a ConnectX-7 of NVIDIA (`15b3`). The operator refuses such a policy or configures no node, and a pool of the
device plugin stays empty. The usual cause is an example for other adapters, of which one field was changed.

The rule looks at SriovNetworkNodePolicies, and at the configurations of the SR-IOV device plugin and of the shared RDMA
device plugin. It knows the ids that the operator supports, and says nothing about others.

Write the id that `lspci -nn` shows, or leave `deviceID` out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.plugin_configs import entries
from trainyard.analysis.resources.sriov_pools import all_selectors
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.hardware.sriov_adapters import ADAPTERS, NAMES, owners
from trainyard.model.run import Resource


@rule(
    code="NT068",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-operator api/v1/helper.go: SriovNetworkNodePolicySpec.Selected",
        "k8snetworkplumbingwg/sriov-network-device-plugin pkg/resources: vendor and device selectors",
        "github.com/Mellanox/network-operator pull 154",
    ),
    needs=("SriovNetworkNodePolicy", "resourceList", "sriovDevicePlugin", "configList"),
)
def adapter_of_other_vendor(resource: Resource) -> Iterator[Problem]:
    """Report device ids that no device of the vendor has."""
    if resource.kind == "SriovNetworkNodePolicy":
        selector = mapping(resource.tree, "spec", "nicSelector")
        at = resource.at.child("spec", "nicSelector", "deviceID")
        yield from _fault([selector.get("vendor")], [selector.get("deviceID")], at)
        return
    for selectors, at, field in _selectors(resource):
        vendors, devices = (cni.field_value(selectors, name) for name in ("vendors", field))
        if isinstance(vendors, list) and isinstance(devices, list):
            yield from _fault(vendors, devices, at.child(cni.field_name(selectors, field)))


def _selectors(resource: Resource) -> Iterator[tuple[Any, Place, str]]:
    """Yields the selectors of pools, each with its place and the field with device ids."""
    for selectors, at in all_selectors(resource):
        yield selectors, at, "devices"
    for entry, at in entries(resource, "rdmaSharedDevicePlugin", "configList"):
        yield cni.field_value(entry, "selectors"), at.child(cni.field_name(entry, "selectors")), "deviceIDs"


def _fault(vendors: list[Any], devices: list[Any], at: Place) -> Iterator[Problem]:
    """Reports the ids if all of them belong to other vendors than the written ones, which are known."""
    written = {one.lower() for one in vendors if isinstance(one, str)}
    owned = [(one, owners(one)) for one in devices if isinstance(one, str)]
    if len(owned) != len(devices) or not written or not written <= ADAPTERS.keys():
        return
    if owned and all(own and not own & written for _, own in owned):
        yield Problem(
            at,
            f"{_listed(one for one, _ in owned)} is a device of {NAMES[min(owned[0][1])]}, and the vendor "
            f"{_listed(sorted(written))} is {NAMES[min(written)]}: the selector matches no device",
            "write the device id that `lspci -nn` shows for this vendor",
        )


def _listed(ids: Iterable[str]) -> str:
    return ", ".join(f"`{one}`" for one in ids)
