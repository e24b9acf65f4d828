"""The pools of the SR-IOV device plugin: which devices a resource stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.plugin_configs import configurations
from trainyard.document.document import Place
from trainyard.model.run import Project, Resource


def sriov_pools(project: Project, resource: str) -> Iterator[tuple[Any, Place]]:
    """Yields each set of selectors of the pools that the SR-IOV device plugin offers as a resource, with its place."""
    prefix, _, name = resource.rpartition("/")
    for one in project.of_kind("ConfigMap", "NicClusterPolicy", "NicNodePolicy"):
        for entry, at in _entries(one):
            own = cni.field_text(entry, "resourcePrefix")
            if cni.field_text(entry, "resourceName") == name and own in ("", prefix):
                yield from _selectors(entry, at)


def all_selectors(resource: Resource) -> Iterator[tuple[Any, Place]]:
    """Yields each set of selectors of all pools in one object, with its place."""
    for entry, at in _entries(resource):
        yield from _selectors(entry, at)


def _entries(resource: Resource) -> Iterator[tuple[Any, Place]]:
    for found in configurations(resource, "sriovDevicePlugin", "resourceList", "resourceName"):
        listed = cni.field_value(found.tree, "resourceList")
        for index, entry in enumerate(listed if isinstance(listed, list) else ()):
            yield entry, found.at.child("resourceList", index)


def _selectors(entry: Any, at: Place) -> Iterator[tuple[Any, Place]]:
    written = cni.field_value(entry, "selectors")
    place = at.child(cni.field_name(entry, "selectors"))
    for index, selectors in enumerate(written if isinstance(written, list) else [written]):
        yield selectors, place.child(index) if isinstance(written, list) else place
