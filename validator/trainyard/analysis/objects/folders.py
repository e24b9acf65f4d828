"""The distance between objects in the files: an object refers to the nearest one of a name.

A folder may hold several environments, with the same names in each. What stands in the same file belongs together most,
then what stands in the same folder, and then the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from trainyard.document.document import Place
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource

SAME_FILE, SAME_FOLDER, NESTED, APART = range(4)
_MOST = 16

_Thing = TypeVar("_Thing")


def distance(one: Place, other: Place) -> int:
    """Returns how far two objects are apart; `NESTED` if the folder of one contains the other."""
    if one.document.source is other.document.source:
        return SAME_FILE
    first, second = folder_of(one), folder_of(other)
    if first == second:
        return SAME_FOLDER
    nested = first.startswith(f"{second}/") or second.startswith(f"{first}/") or not first or not second
    return NESTED if nested else APART


def of_namespace(project: Project, kind: str, namespace: str, near: Place) -> list[Resource]:
    """Returns the objects of a kind in exactly this namespace, in the folder of a place, below it or above it."""
    found = _by_namespace.of(project).get((kind, namespace), [])
    # More of them contradict each other.
    return [one for one in found if distance(one.at, near) <= NESTED] if len(found) <= _MOST else []


def is_for_several_clusters(project: Project) -> bool:
    """True if two folders have a Kustomization of Flux with the same name: each is for a cluster of its own."""
    folders: dict[tuple[str, str], str] = {}
    flux = (one for one in project.of_kind("Kustomization") if one.api_version.startswith("kustomize.toolkit."))
    return any(folders.setdefault((one.namespace, one.name), folder_of(one.at)) != folder_of(one.at) for one in flux)


def folder_of(place: Place) -> str:
    """Returns the folder of an object's file; empty for the current one."""
    return place.document.source.name.replace("\\", "/").rpartition("/")[0].removeprefix("./")


def nearest(things: Iterable[tuple[_Thing, Place]], to: Place) -> list[_Thing]:
    """Returns the things with the shortest distance; several if they are equally far away."""
    found = [(distance(at, to), thing) for thing, at in things]
    shortest = min((far for far, _ in found), default=APART)
    return [thing for far, thing in found if far == shortest]


def _find_by_namespace(project: Project) -> dict[tuple[str, str], list[Resource]]:
    found: dict[tuple[str, str], list[Resource]] = {}
    for one in project.of_kind("ResourceQuota", "LimitRange"):
        found.setdefault((one.kind, one.namespace), []).append(one)
    return found


_by_namespace: LastIndex[Project, dict[tuple[str, str], list[Resource]]] = LastIndex(_find_by_namespace)
