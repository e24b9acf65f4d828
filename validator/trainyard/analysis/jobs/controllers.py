"""The versions of controllers whose Deployments are in the files, by the tags of their images."""

from __future__ import annotations

from collections.abc import Sequence

from trainyard.document.lookup import items, mapping, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import pattern

Version = tuple[int, ...]
# A patch may follow; what follows it, such as `-rc.0`, makes another version.
_KUEUE = "kueue/kueue"
_TRAINER = "trainer-controller-manager"
IMAGE = pattern(r"(?P<name>[^@]+):v(?P<version>\d+\.\d+(?:\.\d+)?)(?:@.*)?")


def version_of(project: Project, image: str) -> Version | None:
    """Returns the version of the controller with this image; None if the files have none, or several versions."""
    known = {
        version
        for name, version in _images.of(project.kinds.get("Deployment", ()))
        if name == image or name.endswith(f"/{image}")
    }
    return known.pop() if len(known) == 1 else None


def kueue_of(project: Project, target: Version | None) -> Version | None:
    """Returns the version of Kueue in the files, otherwise that of the target."""
    return version_of(project, _KUEUE) or target


def trainer_of(project: Project, target: Version | None) -> Version | None:
    """Returns the version of Kubeflow Trainer in the files, otherwise that of the target."""
    return version_of(project, _TRAINER) or target


def _versions(deployments: Sequence[Resource]) -> list[tuple[str, Version]]:
    """Returns name and version of each image of the Deployments whose tag is a version."""
    found = []
    for deployment in deployments:
        pod = mapping(deployment.tree, "spec", "template", "spec")
        for container in items(pod, "containers"):
            match = IMAGE.fullmatch(text(container, "image"))
            if match:
                found.append((match["name"], tuple(int(number) for number in match["version"].split("."))))
    return found


_images: LastIndex[Sequence[Resource], list[tuple[str, Version]]] = LastIndex(_versions)
