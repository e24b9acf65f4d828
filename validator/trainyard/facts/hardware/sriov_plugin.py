"""The configuration of the SR-IOV network device plugin.

Source: k8snetworkplumbingwg/sriov-network-device-plugin after v3.9.0 pkg/types/types.go (ResourceConfig, selectors),
pkg/utils/utils.go (ValidResourceName), cmd/sriovdp/manager.go (readConfig, validConfigs). Go ignores the case of keys.
"""

from __future__ import annotations

import re

NAME = re.compile(r"[a-zA-Z0-9_-]+\Z")
ENTRY = frozenset(("resourcePrefix", "resourceName", "deviceType", "excludeTopology", "selectors", "additionalInfo"))
_DEVICE = ("vendors", "devices", "drivers")
_NET = ("pfNames", "rootDevices", "linkTypes", "isRdma", "acpiIndexes", "needVhostNet")
# The selectors of each device type; those of `FLAGS` are true or false, `vdpaType` is a word, all others are lists.
SELECTORS = {
    "netDevice": frozenset((*_DEVICE, "pciAddresses", *_NET, "ddpProfiles", "vdpaType", "pKeys")),
    "accelerator": frozenset((*_DEVICE, "pciAddresses")),
    "auxNetDevice": frozenset((*_DEVICE, *_NET, "auxTypes")),
}
FLAGS = frozenset(("isRdma", "needVhostNet"))
