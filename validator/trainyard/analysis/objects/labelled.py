"""Objects by their own labels, found by an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trainyard.document.lookup import mapping
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource


def services_with(project: Project, labels: Mapping[str, str]) -> Sequence[Resource]:
    """Returns the Services that have all of these labels; none for no labels."""
    known = _services.of(project)
    every = [known.get(one, ()) for one in labels.items()]
    return [one for one in min(every, key=len, default=()) if labels.items() <= labels_of(one).items()]


def labels_of(resource: Resource) -> dict[str, str]:
    """Returns the labels of an object as texts."""
    return {str(name): str(value) for name, value in mapping(resource.tree, "metadata", "labels").items()}


def _find_services(project: Project) -> dict[tuple[str, str], list[Resource]]:
    found: dict[tuple[str, str], list[Resource]] = {}
    for service in project.of_kind("Service"):
        for label in labels_of(service).items():
            found.setdefault(label, []).append(service)
    return found


_services: LastIndex[Project, dict[tuple[str, str], list[Resource]]] = LastIndex(_find_services)
