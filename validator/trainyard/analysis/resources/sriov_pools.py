"""The pools of the SR-IOV device plugin: which devices a resource stands for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.network import cni
from trainyard.analysis.resources.plugin_configs import configurations
from trainyard.document.document import Place
from trainyard.model.run import Project


def sriov_pools(project: Project, resource: str) -> Iterator[tuple[Any, Place]]:
    """Yields each set of selectors of the pools that the SR-IOV device plugin offers as a resource, with its place."""
    prefix, _, name = resource.rpartition("/")
    for one in project.of_kind("ConfigMap", "NicClusterPolicy", "NicNodePolicy"):
        for found in configurations(one, "sriovDevicePlugin", "resourceList", "resourceName"):
            listed = cni.field_value(found.tree, "resourceList")
            for index, entry in enumerate(listed if isinstance(listed, list) else ()):
                own = cni.field_text(entry, "resourcePrefix")
                if cni.field_text(entry, "resourceName") == name and own in ("", prefix):
                    written = cni.field_value(entry, "selectors")
                    at = found.at.child("resourceList", index, cni.field_name(entry, "selectors"))
                    for selectors in written if isinstance(written, list) else [written]:
                        yield selectors, at
