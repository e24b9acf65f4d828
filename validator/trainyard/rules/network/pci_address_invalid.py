"""An address in a device selector is no PCI address, so the selector matches no device.

A PCI address has four parts of hexadecimal digits, `domain:bus:device.function`, such as `0000:af:00.0`. The operator
and the device plugin compare addresses as text with those of the node. An address with another digit, without the
domain or with capital letters matches nothing: the webhook of the operator rejects the policy, or the resource has no
device, and pods stay Pending.

The rule checks `rootDevices` of a SriovNetworkNodePolicy, and `rootDevices` and `pciAddresses` of the SR-IOV device
plugin.

`lspci -D` shows addresses in the right form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trainyard.analysis.resources.sriov_plugin import selectors_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Resource

ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]")


@rule(
    code="NT029",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "torvalds/linux drivers/pci/probe.c: pci_setup_device names devices %04x:%02x:%02x.%d",
        "github.com/k8snetworkplumbingwg/sriov-network-operator issue 447",
        "k8snetworkplumbingwg/sriov-network-device-plugin v3.11.0 pkg/resources/deviceSelectors.go: contains",
    ),
    needs=("rootDevices", "pciAddresses"),
)
def pci_address_invalid(resource: Resource) -> Iterator[Problem]:
    """Addresses that no device has."""
    if resource.kind == "SriovNetworkNodePolicy":
        at = resource.at.child("spec", "nicSelector", "rootDevices")
        yield from _faults(items(mapping(resource.tree, "spec", "nicSelector"), "rootDevices"), at)
    for selectors, at in selectors_of(resource):
        for name in ("rootDevices", "pciAddresses"):
            yield from _faults(items(selectors, name), at.child(name))


def _faults(addresses: list[Any], at: Place) -> Iterator[Problem]:
    for index, written in enumerate(addresses):
        # The device plugin also takes functions of an address: `0000:af:00.0#0-3`.
        if isinstance(written, str) and not ADDRESS.fullmatch(written.partition("#")[0]):
            yield Problem(
                at.child(index),
                f"`{written}` is not a PCI address: it matches no device",
                "write an address such as 0000:af:00.0, in lower case",
            )
