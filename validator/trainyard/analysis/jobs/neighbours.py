"""Pods that stand beside each other in the files: those of one namespace that are applied together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.folders import SAME_FOLDER, distance, folder_of
from trainyard.analysis.objects.patches import is_patch
from trainyard.document.document import Place
from trainyard.document.lookup import items
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Role, Run

# Fields of a kustomization with files; `bases` is the former name.
_LISTS = ("resources", "bases", "components")
# A selector that fits more runs than these is no mistake of one object.
_MOST = 16


def selected_together(project: Project, selector: dict[str, Any], namespace: str, at: Place) -> list[tuple[Run, Role]]:
    """Returns the roles whose pods a selector fits and that are applied together with a place; none if too many.

    Files of one folder belong together if a kustomization lists them. Others may be examples with the same labels.
    """
    lists = [_by_label.of(project).get((str(name), str(value)), []) for name, value in selector.items()]
    few = min(lists, key=len, default=[])
    if len(few) > _MOST:
        return []
    return [
        (run, role)
        for run, role in few
        if run.namespace == namespace
        and together(project, run.at, at)
        and all(str(role.pod.labels.get(name)) == str(value) for name, value in selector.items())
    ]


def together(project: Project, one: Place, other: Place) -> bool:
    """True if two objects are applied together: they stand in one file, or one kustomization lists their files."""
    if one.document.source is other.document.source:
        return True
    listed = _listed.of(project).get(folder_of(one), frozenset()) if distance(one, other) <= SAME_FOLDER else ()
    return all(place.document.source.name.rpartition("/")[2] in listed for place in (one, other))


def _find(project: Project) -> dict[tuple[str, str], list[tuple[Run, Role]]]:
    found: dict[tuple[str, str], list[tuple[Run, Role]]] = {}
    for run, role in _roles(project):
        for name, value in role.pod.labels.items():
            found.setdefault((str(name), str(value)), []).append((run, role))
    return found


def _roles(project: Project) -> Iterator[tuple[Run, Role]]:
    for run in project.runs:
        for role in run.roles:
            if role.pod.labels and role.pod.containers and not is_patch(role.pod):
                yield run, role


_by_label: LastIndex[Project, dict[tuple[str, str], list[tuple[Run, Role]]]] = LastIndex(_find)


def _find_listed(project: Project) -> dict[str, frozenset[str]]:
    """Returns the names of the files that the kustomization of each folder lists."""
    return {
        folder_of(one.at): frozenset(
            str(name).removeprefix("./") for field in _LISTS for name in items(one.tree, field)
        )
        for one in project.of_kind("Kustomization")
        if one.api_version.startswith("kustomize.config.k8s.io/")
    }


_listed: LastIndex[Project, dict[str, frozenset[str]]] = LastIndex(_find_listed)
