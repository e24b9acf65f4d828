"""The pools of the SR-IOV device plugin: which devices a resource stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.objects.alike import few
from trainyard.analysis.resources.plugin_configs import entries
from trainyard.document.document import Place
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

# The field of the plugin in a policy, and the one of its configuration with the pools.
_POOLS = ("sriovDevicePlugin", "resourceList")


def sriov_pools(project: Project, resource: str) -> Iterator[tuple[Any, Place]]:
    """Yields each set of selectors of the pools that the SR-IOV device plugin offers as a resource, with its place.

    None if the files have too many pools of the name: then they are those of several clusters.
    """
    prefix, _, name = resource.rpartition("/")
    for entry, at in few(_by_name.of(project).get(name, ())):
        if cni.field_text(entry, "resourcePrefix") in ("", prefix):
            yield from _selectors(entry, at)


def all_selectors(resource: Resource) -> Iterator[tuple[Any, Place]]:
    """Yields each set of selectors of all pools in one object, with its place."""
    for entry, at in entries(resource, *_POOLS):
        yield from _selectors(entry, at)


def _selectors(entry: Any, at: Place) -> Iterator[tuple[Any, Place]]:
    written = cni.field_value(entry, "selectors")
    place = at.child(cni.field_name(entry, "selectors"))
    for index, selectors in enumerate(written if isinstance(written, list) else [written]):
        yield selectors, place.child(index) if isinstance(written, list) else place


def _find_by_name(project: Project) -> dict[str, list[tuple[Any, Place]]]:
    found: dict[str, list[tuple[Any, Place]]] = {}
    for one in project.of_kind("ConfigMap", "NicClusterPolicy", "NicNodePolicy"):
        for entry, at in entries(one, *_POOLS):
            found.setdefault(cni.field_text(entry, "resourceName"), []).append((entry, at))
    return found


# Each network asks: reading all configurations for each would take quadratic time.
_by_name: LastIndex[Project, dict[str, list[tuple[Any, Place]]]] = LastIndex(_find_by_name)
