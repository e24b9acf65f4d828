"""Devices that the device plugins in the files offer.

Source: sriov-network-operator SriovNetworkNodePolicy (`resourceName`, under the prefix of the operator's options).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from trainyard.document.lookup import mapping, text
from trainyard.facts.device_plugins import PLUGINS, plugin_devices
from trainyard.model.run import Project


class Offered(NamedTuple):
    """Full names of devices, their prefixes, and names for which the files do not give a prefix."""

    names: frozenset[str]
    prefixes: frozenset[str]
    any_prefix: frozenset[str]


def offered(project: Project) -> Offered:
    """Returns all devices of the device plugins that the files configure."""
    names = {name for written in _configurations(project) for name in plugin_devices(written)}
    policies = project.of_kind("SriovNetworkNodePolicy")
    return Offered(
        names=frozenset(names),
        prefixes=frozenset(name.partition("/")[0] for name in names),
        any_prefix=frozenset(text(policy.tree, "spec", "resourceName") for policy in policies),
    )


def _configurations(project: Project) -> Iterator[str]:
    for config_map in project.of_kind("ConfigMap"):
        yield from (value for value in mapping(config_map.tree, "data").values() if isinstance(value, str))
    for policy in project.of_kind("NicClusterPolicy"):
        for plugin in PLUGINS:
            yield text(policy.tree, "spec", plugin, "config")
