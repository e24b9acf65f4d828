"""The cluster in an object of KubeRay, and its groups of pods; `facts.workloads` names the sources."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.workloads import RAY, group_of
from trainyard.model.run import Resource

# The field with the cluster, empty if it is the spec itself.
_FIELDS = {"RayCluster": (), "RayJob": ("rayClusterSpec",), "RayService": ("rayClusterConfig",)}
_VERSION = re.compile(r"(?:^|/)rayproject/ray(?:-ml|-llm)?:(\d+\.\d+\.\d+)(?:[.-]|\Z)")


class Group(NamedTuple):
    """The head, or a group of workers, with its place."""

    name: str
    tree: dict[str, Any]
    at: Place

    @property
    def containers(self) -> list[dict[str, Any]]:
        """The containers of its pods; Ray runs in the first one."""
        found = items(self.tree, "template", "spec", "containers")
        return [container for container in found if isinstance(container, dict)]

    @property
    def containers_at(self) -> Place:
        """The place of the containers."""
        return self.at.child("template", "spec", "containers")


def cluster_of(resource: Resource) -> tuple[dict[str, Any], Place] | None:
    """Returns the cluster that an object describes; None for another kind."""
    path = _FIELDS.get(resource.kind) if group_of(resource.api_version) == RAY else None
    if path is None:
        return None
    return mapping(resource.tree, "spec", *path), resource.at.child("spec", *path)


def groups_of(resource: Resource) -> Iterator[Group]:
    """Yields the head of a cluster and its groups of workers."""
    found = cluster_of(resource)
    if found is None:
        return
    cluster, at = found
    if mapping(cluster, "headGroupSpec"):
        yield Group("the head", mapping(cluster, "headGroupSpec"), at.child("headGroupSpec"))
    for index, group in enumerate(items(cluster, "workerGroupSpecs")):
        if isinstance(group, dict):
            yield Group(f"group {text(group, 'groupName')}", group, at.child("workerGroupSpecs", index))


def image_version(image: str) -> str | None:
    """Returns the version of Ray in the tag of one of its own images."""
    found = _VERSION.search(image)
    return found[1] if found else None
