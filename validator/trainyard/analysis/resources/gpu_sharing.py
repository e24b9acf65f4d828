"""Configurations of the NVIDIA device plugin: texts in a ConfigMap, or in the values of a chart that creates one.

Source: NVIDIA/k8s-device-plugin v0.20.0 api/config/v1 (config.go, sharing.go, replicas.go). Its field names are matched
without regard to case, and unknown fields are ignored.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from trainyard.analysis.objects.alike import few
from trainyard.analysis.objects.releases import releases
from trainyard.document.document import Place
from trainyard.document.lookup import mapping
from trainyard.document.reading import embedded_mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project

# Where the charts have the texts of the configurations.
CHARTS = {
    "gpu-operator": ("devicePlugin", "config", "data"),
    "nvidia-device-plugin": ("config", "map"),
}
KINDS = ("timeSlicing", "mps")


class SharingConfig(NamedTuple):
    """A configuration with a `sharing` section or parts of one; `alone` if no other text stands beside it.

    `holder` is the name of its ConfigMap, empty for values of a chart.
    """

    tree: dict[str, Any]
    at: Place
    alone: bool
    holder: str = ""


def configurations(project: Project) -> Sequence[SharingConfig]:
    """Returns the configurations that share GPUs, or try to."""
    return _configurations.of(project)


def held_by(project: Project, config_map: str) -> Sequence[SharingConfig]:
    """Returns those of the ConfigMaps of this name; none if there are too many to belong to one cluster."""
    return few(_by_holder.of(project).get(config_map, ()))


def _find(project: Project) -> Iterator[SharingConfig]:
    for resource in project.of_kind("ConfigMap"):
        yield from _read(mapping(resource.tree, "data"), resource.at.child("data"), resource.name)
    for release in releases(project):
        path = CHARTS.get(release.chart)
        if path is not None and release.values_at is not None:
            yield from _read(mapping(release.values, *path), release.place(*path))


def _read(texts: dict[str, Any], at: Place, holder: str = "") -> Iterator[SharingConfig]:
    for key, raw in texts.items():
        if not isinstance(raw, str) or "replicas" not in raw or not any(kind in raw for kind in KINDS):
            continue
        inner = embedded_mapping(at.child(key), raw)
        if inner is not None:
            yield SharingConfig(inner.tree, Place(inner), len(texts) == 1, holder)


def _find_by_holder(project: Project) -> dict[str, list[SharingConfig]]:
    found: dict[str, list[SharingConfig]] = {}
    for one in configurations(project):
        found.setdefault(one.holder, []).append(one)
    return found


_configurations: LastIndex[Project, tuple[SharingConfig, ...]] = LastIndex(lambda project: tuple(_find(project)))
_by_holder: LastIndex[Project, dict[str, list[SharingConfig]]] = LastIndex(_find_by_holder)
