"""The resource pools of the SR-IOV network device plugin.

Source: k8snetworkplumbingwg/sriov-network-device-plugin v3.11.0, cmd/sriovdp/manager.go (readConfig) and
pkg/factory/factory.go (selectors are an object or a list of objects).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.analysis.resources.plugin_configs import configurations
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
from trainyard.model.run import Resource


class PluginPool(NamedTuple):
    """A resource of the plugin, with its selectors and their places."""

    name: str
    device_type: str
    selectors: tuple[tuple[dict[str, Any], Place], ...]
    at: Place


def pools(resource: Resource) -> Iterator[PluginPool]:
    """Yields the pools in the configuration of the plugin; none for other objects."""
    for found in configurations(resource, "sriovDevicePlugin", "resourceList", "selectors"):
        for index, entry in enumerate(items(found.tree, "resourceList")):
            if isinstance(entry, dict):
                yield _pool(entry, found.at.child("resourceList", index))


def _pool(entry: dict[str, Any], at: Place) -> PluginPool:
    written, place = entry.get("selectors"), at.child("selectors")
    if isinstance(written, list):
        found = tuple((one, place.child(index)) for index, one in enumerate(written) if isinstance(one, dict))
    else:
        found = ((written, place),) if isinstance(written, dict) else ()
    return PluginPool(text(entry, "resourceName"), text(entry, "deviceType") or "netDevice", found, at)
