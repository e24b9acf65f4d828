"""Labels that kustomizations add to the objects of a project.

Source: kubectl.docs.kubernetes.io/references/kustomize/kustomization: commonLabels, labels.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project

_KINDS = ("Kustomization", "Component")


def added_labels(project: Project) -> frozenset[str]:
    """Returns the names of the labels that a kustomization of the files adds."""
    return _added.of(project)


def _names(project: Project) -> Iterator[str]:
    for document in project.documents:
        tree = document.tree
        if isinstance(tree, dict) and tree.get("kind", _KINDS[0]) in _KINDS:
            yield from map(str, mapping(tree, "commonLabels"))
            for entry in items(tree, "labels"):
                yield from map(str, mapping(entry, "pairs"))


_added: LastIndex[Project, frozenset[str]] = LastIndex(lambda project: frozenset(_names(project)))
