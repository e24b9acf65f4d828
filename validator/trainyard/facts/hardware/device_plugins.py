"""Resources that RDMA device plugins offer, from their JSON configuration.

Sources: Mellanox/k8s-rdma-shared-dev-plugin README.md (`configList`, prefix `rdma` by default);
k8snetworkplumbingwg/sriov-network-device-plugin README.md (`resourceList`, prefix `intel.com` by default);
Mellanox/network-operator NicClusterPolicy (`config` holds the same JSON).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.lookup import items, text

# Fields of the plugins in the spec of a NicClusterPolicy or a NicNodePolicy.
PLUGINS = ("rdmaSharedDevicePlugin", "sriovDevicePlugin")
_LISTS = {"configList": "rdma", "resourceList": "intel.com"}


def plugin_devices(configuration: str) -> Iterator[str]:
    """Yields the full names of the devices in a configuration; none for any other text."""
    if not any(f'"{field}"' in configuration for field in _LISTS):
        return
    import json

    try:
        tree: Any = json.loads(configuration)
    except (ValueError, RecursionError):
        return
    for field, prefix in _LISTS.items():
        for entry in items(tree, field):
            if text(entry, "resourceName"):
                yield f"{text(entry, 'resourcePrefix') or prefix}/{text(entry, 'resourceName')}"
