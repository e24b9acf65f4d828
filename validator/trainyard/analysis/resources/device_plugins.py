"""Devices that the device plugins in the files offer.

Source: sriov-network-operator SriovNetworkNodePolicy (`resourceName`, under the prefix of the operator's options).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from trainyard.analysis.objects.alike import few
from trainyard.analysis.objects.folders import folder_of
from trainyard.analysis.resources.devices import requested_devices
from trainyard.document.document import Place
from trainyard.document.lookup import mapping, text
from trainyard.engine.suggestions import closest_match
from trainyard.facts.hardware.device_plugins import PLUGINS, plugin_devices
from trainyard.facts.hardware.devices import is_accelerator
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Container, Project, Resource

# The default of the SR-IOV operator, which nothing else uses.
_OPERATOR_PREFIX = "openshift.io"
_RATIO = 0.8
# Shorter names that differ in one letter belong to a series: a file has `rail_a`, and another one `rail_b`.
_MISSPELT = 0.9


class Offered(NamedTuple):
    """Full names of devices, the same in their order by prefix, and names for which the files do not give a prefix.

    `short` are all names without their prefixes, and `folders` those of the files that configure each of these.
    `under` are those of each prefix without it.
    """

    names: frozenset[str]
    by_prefix: Mapping[str, Sequence[str]]
    any_prefix: frozenset[str]
    short: frozenset[str]
    folders: Mapping[str, frozenset[str]]
    under: Mapping[str, frozenset[str]]


class UnknownDevice(NamedTuple):
    """A device, `limits` or `requests`, and the device of the same folder of which it is a misspelling, if any."""

    name: str
    field: str
    meant: str | None


def offered(project: Project) -> Offered:
    """Returns all devices of the device plugins that the files configure."""
    return _offered.of(project)


def _find_offered(project: Project) -> Offered:
    folders: defaultdict[str, set[str]] = defaultdict(set)
    names = set()
    for resource, written in _configurations(project):
        for name in plugin_devices(written):
            names.add(name)
            folders[name.rpartition("/")[2]].add(folder_of(resource.at))
    by_prefix: dict[str, list[str]] = {}
    for name in sorted(names):
        by_prefix.setdefault(name.partition("/")[0], []).append(name)
    policies = project.of_kind("SriovNetworkNodePolicy")
    for policy in policies:
        folders[text(policy.tree, "spec", "resourceName")].add(folder_of(policy.at))
    any_prefix = frozenset(text(policy.tree, "spec", "resourceName") for policy in policies)
    short = any_prefix | {name.rpartition("/")[2] for name in names}
    under = {
        prefix: frozenset(name.rpartition("/")[2] for name in of_prefix) for prefix, of_prefix in by_prefix.items()
    }
    configured = {name: frozenset(found) for name, found in folders.items()}
    return Offered(frozenset(names), by_prefix, any_prefix, short, configured, under)


def unknown_devices(container: Container, project: Project) -> Iterator[UnknownDevice]:
    """Yields devices of a container that the files do not offer, although they configure a plugin that could."""
    wanted = sorted(one for one in requested_devices(container) if not is_accelerator(one[0]))
    if not wanted:
        return
    devices = offered(project)
    for name, field in wanted:
        if _is_unknown(name, devices):
            yield UnknownDevice(name, field, _meant(name, devices, container.at))


def _is_unknown(name: str, devices: Offered) -> bool:
    prefix, _, short = name.partition("/")
    if name in devices.names or short in devices.any_prefix:
        return False
    if prefix in devices.by_prefix or not devices.any_prefix:
        return prefix in devices.by_prefix
    return prefix == _OPERATOR_PREFIX or closest_match(short, devices.any_prefix, _RATIO) is not None


def _meant(name: str, devices: Offered, near: Place) -> str | None:
    prefix, _, short = name.partition("/")
    for known in (devices.under.get(prefix, frozenset()), devices.any_prefix):
        found = closest_match(short, known, _MISSPELT)
        if found is not None and folder_of(near) in devices.folders[found]:
            return f"{prefix}/{found}"
    return None


def policies_of(project: Project, resource: str) -> Sequence[Resource]:
    """Returns the SriovNetworkNodePolicies of virtual functions, by the name of their device without its prefix.

    None if there are too many: then they are those of several clusters.
    """
    return few(_policies_by_resource.of(project).get(resource, ()))


def _configurations(project: Project) -> Iterator[tuple[Resource, str]]:
    for one in project.of_kind("ConfigMap"):
        yield from ((one, value) for value in mapping(one.tree, "data").values() if isinstance(value, str))
    for policy in project.of_kind("NicClusterPolicy"):
        for plugin in PLUGINS:
            yield policy, text(policy.tree, "spec", plugin, "config")


def _by_resource(project: Project) -> dict[str, list[Resource]]:
    found: dict[str, list[Resource]] = {}
    for policy in project.of_kind("SriovNetworkNodePolicy"):
        found.setdefault(text(policy.tree, "spec", "resourceName"), []).append(policy)
    return found


_policies_by_resource: LastIndex[Project, dict[str, list[Resource]]] = LastIndex(_by_resource)
_offered: LastIndex[Project, Offered] = LastIndex(_find_offered)
