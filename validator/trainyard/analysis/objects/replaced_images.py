"""Images whose name or tag a kustomization sets, so that the file of the pod does not show it.

Sources: kubernetes-sigs/kustomize api/types/image.go (name, newName, newTag, digest); fluxcd/kustomize-controller
docs/spec/v1 (spec.images).
"""

from __future__ import annotations

from trainyard.document.lookup import items, text
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project


def is_replaced(image: str, project: Project) -> bool:
    """True if a kustomization sets an image with this name, which may have the tag `latest`."""
    return image.removesuffix(":latest") in _names.of(project)


def _find(project: Project) -> frozenset[str]:
    return frozenset(
        text(image, "name")
        for document in project.documents
        for path in (("images",), ("spec", "images"))
        for image in items(document.tree, *path)
    )


_names: LastIndex[Project, frozenset[str]] = LastIndex(_find)
