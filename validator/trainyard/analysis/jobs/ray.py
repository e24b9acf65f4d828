"""Clusters of KubeRay: the groups of pods of a RayCluster, RayJob or RayService, and the container that starts Ray.

Source: ray-project/kuberay v1.7.0 ray-operator/controllers/ray/common/pod.go (BuildPod: the first container of a
template runs `ray start`) and apis/ray/v1.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.facts.jobs.workloads import RAY, group_of
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Resource

OVERWRITE = "ray.io/overwrite-container-cmd"
# The field of a RayJob with which KubeRay deletes its cluster at the end; false by default.
SHUTDOWN = "shutdownAfterJobFinishes"
_SPECS = {"RayCluster": ("spec",), "RayJob": ("spec", "rayClusterSpec"), "RayService": ("spec", "rayClusterConfig")}
_RELEASE = re.compile(r"(\d+)\.(\d+)")
_PYTHON = re.compile(r":[^:]*-py3(\d+)\b")
_IMAGE = re.compile(r"(?:^|/)rayproject/ray(?:-ml|-llm)?:(\d+\.\d+\.\d+)(?:[.-]|\Z)")
_FORMER_IMAGE = re.compile(r"(?:^|/)rayproject/autoscaler(?:[:@]|\Z)")


class Group(NamedTuple):
    """The head or a group of workers, which has a name."""

    name: str
    is_head: bool
    tree: dict[str, Any]
    at: Place

    @property
    def title(self) -> str:
        """The words for the group in messages."""
        return "the head" if self.is_head else f"group {self.name}"

    @property
    def start(self) -> dict[str, Any]:
        """The parameters of `ray start`."""
        return mapping(self.tree, "rayStartParams")

    @property
    def pod(self) -> dict[str, Any]:
        """The spec of the pods."""
        return mapping(self.tree, "template", "spec")

    @property
    def pod_at(self) -> Place:
        """The place of the spec of the pods."""
        return self.at.child("template", "spec")

    @property
    def containers(self) -> list[dict[str, Any]]:
        """The containers of the pods, as written."""
        return [container for container in items(self.pod, "containers") if isinstance(container, dict)]

    @property
    def containers_at(self) -> Place:
        """The place of the containers."""
        return self.pod_at.child("containers")

    @property
    def container(self) -> dict[str, Any]:
        """The container in which KubeRay starts Ray."""
        return mapping(next(iter(items(self.pod, "containers")), None))

    @property
    def container_at(self) -> Place:
        """The place of the container in which KubeRay starts Ray."""
        return self.containers_at.child(0)

    def quantity(self, field: str, resource: str) -> float | None:
        """Returns a request or a limit of the container."""
        return parse_quantity(mapping(self.container, "resources", field).get(resource))


class Cluster(NamedTuple):
    """A Ray cluster; `annotations` are those of the object, which KubeRay copies from jobs and services."""

    tree: dict[str, Any]
    at: Place
    groups: tuple[Group, ...]
    annotations: dict[str, Any]

    @property
    def is_autoscaled(self) -> bool:
        """True if KubeRay adds the autoscaler to the head."""
        return self.tree.get("enableInTreeAutoscaling") is True

    @property
    def release(self) -> tuple[int, int] | None:
        """The release of Ray, from `rayVersion`."""
        found = _RELEASE.match(text(self.tree, "rayVersion"))
        return (int(found[1]), int(found[2])) if found is not None else None


def cluster_of(resource: Resource) -> Cluster | None:
    """Returns the cluster that an object describes; None if it describes none."""
    path = _SPECS.get(resource.kind)
    tree = mapping(resource.tree, *path) if path is not None else {}
    if path is None or group_of(resource.api_version) != RAY or not tree:
        return None
    at = resource.at.child(*path)
    groups = [Group("", True, mapping(tree, "headGroupSpec"), at.child("headGroupSpec"))]
    for index, group in enumerate(items(tree, "workerGroupSpecs")):
        place = at.child("workerGroupSpecs", index)
        groups.append(Group(text(group, "groupName"), False, mapping(group), place))
    return Cluster(tree, at, tuple(groups), mapping(resource.tree, "metadata", "annotations"))


def groups_of(resource: Resource) -> tuple[Group, ...]:
    """Returns the head and the groups of workers that an object describes."""
    cluster = cluster_of(resource)
    return cluster.groups if cluster is not None else ()


def image_version(image: str) -> str | None:
    """Returns the version of Ray in the tag of one of its own images."""
    found = _IMAGE.search(image)
    return found[1] if found else None


def image_release(image: str) -> tuple[int, ...] | None:
    """Returns the release of Ray in one of its own images, None if the image does not tell.

    Ray 1.0 renamed `rayproject/autoscaler` to `rayproject/ray-ml` (pull request 10351).
    """
    if _FORMER_IMAGE.search(image):
        return (1, 0)
    version = image_version(image)
    return tuple(map(int, version.split("."))) if version is not None else None


def image_python(image: str) -> str | None:
    """Returns the version of Python that the tag of one of Ray's own images names."""
    found = _PYTHON.search(image)
    return f"3.{found[1]}" if found else None


def keeps_command(cluster: Cluster, group: Group) -> bool:
    """True if KubeRay leaves the command of the container as it is."""
    own = mapping(group.tree, "template", "metadata", "annotations")
    if any(str(given.get(OVERWRITE)).lower() == "true" for given in (cluster.annotations, own)):
        return True
    return "ray start" in " ".join(words_of(group))


def words_of(group: Group) -> list[str]:
    """Returns the command of the container and its arguments."""
    return [str(word) for field in ("command", "args") for word in items(group.container, field)]
