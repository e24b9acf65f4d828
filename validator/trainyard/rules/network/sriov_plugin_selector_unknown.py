"""The SR-IOV device plugin ignores a selector that it does not know, so its resource has other devices than meant.

A device belongs to a resource if it matches all selectors. The plugin parses them without checking for unknown fields:
with `pfName` instead of `pfNames`, the functions of all adapters match, and pods get devices of the wrong network. The
names of fields are compared without regard to case.

Correct the name.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.sriov_plugin import pools
from trainyard.document.document import Edit, Rename
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import closest_match
from trainyard.model.run import Resource

_COMMON = ("vendors", "devices", "drivers")
_PCI = ("pciAddresses",)
_NET = ("pfNames", "rootDevices", "linkTypes", "isRdma", "acpiIndexes", "needVhostNet")
SELECTORS = {
    "netdevice": (*_COMMON, *_PCI, *_NET, "ddpProfiles", "vdpaType", "pKeys"),
    "accelerator": (*_COMMON, *_PCI),
    "auxnetdevice": (*_COMMON, *_NET, "auxTypes"),
}


@rule(
    code="NT030",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "k8snetworkplumbingwg/sriov-network-device-plugin v3.11.0 pkg/types/types.go: NetDeviceSelectors",
        "k8snetworkplumbingwg/sriov-network-device-plugin v3.11.0 pkg/factory/factory.go: GetDeviceFilter",
        "github.com/k8snetworkplumbingwg/sriov-network-device-plugin issue 204",
    ),
    fix="safe",
    needs=("resourceList",),
)
def sriov_plugin_selector_unknown(resource: Resource) -> Iterator[Problem]:
    """Fields of selectors that the plugin ignores."""
    for pool in pools(resource):
        known = SELECTORS.get(pool.device_type.lower())
        for selectors, at in pool.selectors if known is not None else ():
            lower = {name.lower() for name in known or ()}
            for name in selectors:
                if str(name).lower() in lower:
                    continue
                near = closest_match(str(name), known or (), 0.7)
                free = near is not None and near not in selectors
                edits: tuple[Edit, ...] = (Rename(at.child(name), near),) if near is not None and free else ()
                yield Problem(
                    at.child(name).key(),
                    f"the SR-IOV device plugin ignores the selector `{name}` of {pool.name}",
                    f"did you mean `{near}`?" if near is not None else f"the selectors are {', '.join(known or ())}",
                    edits,
                )
