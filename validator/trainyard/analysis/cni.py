"""Fields of a CNI configuration. Go reads the names of JSON fields in any case, and so do the functions here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.model import Network
from validator.source import Place

_OF_DEVICES = ("sriov", "ib-sriov", "host-device")
# With one of these the configuration names the device itself.
_SELECTORS = ("deviceID", "device", "hwaddr", "kernelpath", "pciBusID")


def key(tree: Any, name: str) -> str:
    """The field's name as the file spells it; the name itself where the field is missing."""
    if not isinstance(tree, dict) or name in tree:
        return name
    return next((written for written in tree if written.lower() == name.lower()), name)


def value(tree: Any, name: str) -> Any:
    """The field's value, None where it is missing."""
    return tree.get(key(tree, name)) if isinstance(tree, dict) else None


def string(tree: Any, name: str) -> str:
    """The field's text, empty where it has none."""
    found = value(tree, name)
    return found if isinstance(found, str) else ""


def plugins(network: Network, *types: str) -> Iterator[tuple[dict[str, Any], Place]]:
    """The network's plugins of these types, each with its place."""
    for plugin, at in network.plugins:
        if value(plugin, "type") in types:
            yield plugin, at


def takes_device(network: Network) -> bool:
    """Whether the network's plugin makes the interface of a device that the device plugin gave to the pod."""
    return any(not any(plugin.get(name) for name in _SELECTORS) for plugin, _ in plugins(network, *_OF_DEVICES))
