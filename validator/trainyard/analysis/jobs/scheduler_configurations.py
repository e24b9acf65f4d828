"""Configurations of kube-scheduler and of Volcano's scheduler, in files of their own and in ConfigMaps.

Sources: kubernetes v1.34.4 staging/src/k8s.io/kube-scheduler/config/v1/types.go (KubeSchedulerConfiguration);
volcano-sh/volcano v1.15.1 pkg/scheduler/conf/scheduler_conf.go (SchedulerConfiguration).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.document.reading import embedded
from trainyard.document.source import BrokenText
from trainyard.model.run import Resource

KUBE_SCHEDULER = "KubeSchedulerConfiguration"


def profiles_of(resource: Resource) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields the profiles of kube-scheduler that an object holds."""
    if resource.kind == KUBE_SCHEDULER:
        yield from _profiles(resource.tree, resource.at)
    for _, raw, at in _texts(resource):
        yield from _profiles_in(raw, at)


def plugins_in(raw: str, at: Place) -> frozenset[str]:
    """Returns the plugins that the text of a configuration of kube-scheduler enables, at any point."""
    points = [point for profile, _ in _profiles_in(raw, at) for point in mapping(profile, "plugins").values()]
    return frozenset(text(plugin, "name") for point in points for plugin in items(point, "enabled"))


def volcano_configurations(resource: Resource) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields the configurations of Volcano's scheduler that an object holds."""
    for key, raw, at in _texts(resource):
        inner = embedded(at, raw) if key.startswith("volcano-scheduler") and "plugins:" in raw else None
        if inner is not None and not isinstance(inner, BrokenText) and isinstance(inner.tree, dict):
            yield inner.tree, Place(inner)


def volcano_plugins(resource: Resource) -> Iterator[tuple[dict[str, Any], Place]]:
    """Yields the plugins in a configuration of Volcano's scheduler."""
    for tree, at in volcano_configurations(resource):
        for number, tier in enumerate(items(tree, "tiers")):
            for index, plugin in enumerate(items(tier, "plugins")):
                if isinstance(plugin, dict):
                    yield plugin, at.child("tiers", number, "plugins", index)


def _profiles_in(raw: str, at: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    inner = embedded(at, raw) if KUBE_SCHEDULER in raw else None
    if inner is not None and not isinstance(inner, BrokenText) and text(inner.tree, "kind") == KUBE_SCHEDULER:
        yield from _profiles(inner.tree, Place(inner))


def _profiles(tree: Any, at: Place) -> Iterator[tuple[dict[str, Any], Place]]:
    for index, profile in enumerate(items(tree, "profiles")):
        if isinstance(profile, dict):
            yield profile, at.child("profiles", index)


def _texts(resource: Resource) -> Iterator[tuple[str, str, Place]]:
    """Yields the keys and the texts of a ConfigMap without templates."""
    for key, raw in mapping(resource.tree, "data").items() if resource.kind == "ConfigMap" else ():
        if isinstance(raw, str) and "{{" not in raw:
            yield str(key), raw, resource.at.child("data", key)
