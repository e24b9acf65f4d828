"""Names and numbers of parts of other objects: ports of Services, keys of Secrets, templates of workflows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.known_objects import Known
from trainyard.analysis.objects.object_references import is_unknown, target_of, walk
from trainyard.document.document import Place
from trainyard.document.lookup import text
from trainyard.facts.kubernetes.object_fields import PARTS, PartField
from trainyard.model.run import Project, Resource
from trainyard.startup import NamedTuple

DATA = "data"
# The API server finds nothing else under these kinds: others have objects of the same kind.
_GROUPS = {"Service": "v1", "Secret": "v1", "ConfigMap": "v1"}


class PartReference(NamedTuple):
    """A part of an object at a place; `is_default` if the file does not write it."""

    field: PartField
    name: str
    namespace: str
    part: str
    at: Place
    is_default: bool


def part_references(project: Project) -> Iterator[PartReference]:
    """Yields the parts that all objects name."""
    for field in PARTS:
        for resource in project.of_kind(field.kind):
            yield from _read(resource, field)


def parts_of(known: Known, field: PartField) -> frozenset[str] | None:
    """Returns the parts that an object has; None if the files do not tell them."""
    if field.has == DATA:
        return known.keys
    api_version = _GROUPS.get(field.target)
    if api_version is not None and known.tree.get("apiVersion") != api_version:
        return None
    found = [one for one, _ in walk(known.tree, known.at, tuple(field.has.split(".")))]
    if any(is_unknown(str(one)) for one in found):
        return None
    # A patch has no list, or an empty one. A list without names has no part of any name.
    *path, _ = field.has.split(".")
    entries = list(walk(known.tree, known.at, tuple(path)))
    return frozenset(map(str, found)) if entries else None


def _read(resource: Resource, field: PartField) -> Iterator[PartReference]:
    *path, last = field.name.split(".")
    for base, at in walk(resource.tree, resource.at, tuple(field.base.split("."))):
        for holder, _ in walk(base, at, tuple(path)):
            name = text(holder, last)
            if not name or is_unknown(name) or target_of(holder, field.target) != field.target:
                continue
            namespace = text(holder, "namespace") or resource.namespace
            parts = list(walk(base, at, tuple(field.part.split("."))))
            for part, place in parts:
                if _is_plain(part):
                    yield PartReference(field, name, namespace, str(part), place, False)
            if not parts and field.default is not None:
                yield PartReference(field, name, namespace, str(field.default), at.child("name"), True)


def _is_plain(part: Any) -> bool:
    if isinstance(part, bool) or not isinstance(part, str | int):
        return False
    return part not in ("", "*") and not is_unknown(str(part))
