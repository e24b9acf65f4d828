"""Fields of a CNI configuration. Go ignores the case of JSON field names, and so do these functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.model.run import Network

_OF_DEVICES = ("sriov", "ib-sriov", "host-device")
# A configuration with one of these fields names the device itself.
_SELECTORS = ("deviceID", "device", "hwaddr", "kernelpath", "pciBusID")


def field_name(tree: Any, name: str) -> str:
    """Returns the field's name as spelled in the file; the given name if the field is missing."""
    if not isinstance(tree, dict) or name in tree:
        return name
    return next((written for written in tree if written.lower() == name.lower()), name)


def field_value(tree: Any, name: str) -> Any:
    """Returns the field's value, None if it is missing."""
    return tree.get(field_name(tree, name)) if isinstance(tree, dict) else None


def field_text(tree: Any, name: str) -> str:
    """Returns the field's text, empty if it has none."""
    found = field_value(tree, name)
    return found if isinstance(found, str) else ""


def plugins(network: Network, *types: str) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields the network's plugins of these types, each with its place."""
    for plugin, at in network.plugins:
        if field_value(plugin, "type") in types:
            yield plugin, at


def takes_device(network: Network) -> bool:
    """True if the network's plugin uses a device that a device plugin allocated to the pod."""
    return any(not any(plugin.get(name) for name in _SELECTORS) for plugin, _ in plugins(network, *_OF_DEVICES))
