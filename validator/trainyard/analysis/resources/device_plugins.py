"""Devices that the device plugins in the files offer.

Source: sriov-network-operator SriovNetworkNodePolicy (`resourceName`, under the prefix of the operator's options).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainyard.analysis.objects.alike import few
from trainyard.document.lookup import mapping, text
from trainyard.facts.hardware.device_plugins import PLUGINS, plugin_devices
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


class Offered(NamedTuple):
    """Full names of devices, the same in their order by prefix, and names for which the files do not give a prefix.

    `short` are all names without their prefixes.
    """

    names: frozenset[str]
    by_prefix: Mapping[str, Sequence[str]]
    any_prefix: frozenset[str]
    short: frozenset[str]


def offered(project: Project) -> Offered:
    """Returns all devices of the device plugins that the files configure."""
    return _offered.of(project)


def _find_offered(project: Project) -> Offered:
    names = frozenset(name for written in _configurations(project) for name in plugin_devices(written))
    by_prefix: dict[str, list[str]] = {}
    for name in sorted(names):
        by_prefix.setdefault(name.partition("/")[0], []).append(name)
    policies = project.of_kind("SriovNetworkNodePolicy")
    any_prefix = frozenset(text(policy.tree, "spec", "resourceName") for policy in policies)
    return Offered(names, by_prefix, any_prefix, any_prefix | {name.rpartition("/")[2] for name in names})


def policies_of(project: Project, resource: str) -> Sequence[Resource]:
    """Returns the SriovNetworkNodePolicies of virtual functions, by the name of their device without its prefix.

    None if there are too many: then they are those of several clusters.
    """
    return few(_policies_by_resource.of(project).get(resource, ()))


def _configurations(project: Project) -> Iterator[str]:
    for config_map in project.of_kind("ConfigMap"):
        yield from (value for value in mapping(config_map.tree, "data").values() if isinstance(value, str))
    for policy in project.of_kind("NicClusterPolicy"):
        for plugin in PLUGINS:
            yield text(policy.tree, "spec", plugin, "config")


def _by_resource(project: Project) -> dict[str, list[Resource]]:
    found: dict[str, list[Resource]] = {}
    for policy in project.of_kind("SriovNetworkNodePolicy"):
        found.setdefault(text(policy.tree, "spec", "resourceName"), []).append(policy)
    return found


_policies_by_resource: LastIndex[Project, dict[str, list[Resource]]] = LastIndex(_by_resource)
_offered: LastIndex[Project, Offered] = LastIndex(_find_offered)
