"""References from objects without pods to other objects, such as those of bindings, autoscalers and queues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.facts.kubernetes.object_fields import BESIDE, NAMES, NameField
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple

# Their fields say with a word of their own that the other object has no namespace.
_OF_CLUSTER = "WorkflowTemplate"
# Placeholders of charts, workflows and scripts.
_UNKNOWN = ("{", "$", "<")


class ObjectReference(NamedTuple):
    """A name of an object at a place. `field` is the same for references of one meaning.

    `namespace` is where the object must be; None if the files do not tell it, or the object has none.
    """

    kind: str
    name: str
    at: Place
    field: str
    namespace: str | None = None


def object_references(project: Project) -> tuple[ObjectReference, ...]:
    """Returns the references of all objects."""
    return _found.of(project)


def walk(tree: Any, at: Place, path: tuple[str, ...]) -> Iterator[tuple[Any, Place]]:
    """Yields what stands at a path below a tree; `*` is each member of a list or of a mapping."""
    if not path:
        yield tree, at
    elif path[0] == "*":
        members = enumerate(tree) if isinstance(tree, list) else tree.items() if isinstance(tree, dict) else ()
        for key, one in members:
            yield from walk(one, at.child(key), path[1:])
    elif isinstance(tree, dict) and path[0] in tree:
        yield from walk(tree[path[0]], at.child(path[0]), path[1:])


def target_of(holder: Any, target: str) -> str:
    """Returns the kind of the object that a mapping names beside its `name`."""
    if target == _OF_CLUSTER and isinstance(holder, dict) and holder.get("clusterScope") is True:
        return f"Cluster{target}"
    return text(holder, "kind") or target


def is_unknown(name: str) -> bool:
    """True if something replaces the name, or a part of it."""
    return any(sign in name for sign in _UNKNOWN)


def _find(project: Project) -> tuple[ObjectReference, ...]:
    by_kind: dict[str, list[NameField]] = {}
    for field in NAMES:
        by_kind.setdefault(field.kind, []).append(field)
    return tuple(
        one
        for kind, fields in by_kind.items()
        for resource in project.of_kind(kind)
        for field in fields
        for one in _read(resource, field)
    )


def _read(resource: Resource, field: NameField) -> Iterator[ObjectReference]:
    *path, last = field.path.split(".")
    for holder, at in walk(resource.tree, resource.at, tuple(path)):
        name = text(holder, last)
        kind = target_of(holder, field.target) if last == "name" else field.target
        if name and kind and not is_unknown(name):
            beside = text(holder, "namespace") if field.where == BESIDE else ""
            namespace = (beside or resource.namespace) if field.where else None
            yield ObjectReference(kind, name, at.child(last), f"{resource.kind} {field.path}", namespace)


_found: LastIndex[Project, tuple[ObjectReference, ...]] = LastIndex(_find)
