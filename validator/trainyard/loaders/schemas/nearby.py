"""Finds the place of a field that was written at the wrong depth."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from trainyard.loaders.schemas.table import Table

    Chain = tuple[tuple[str, tuple[str | int, ...]], ...]
    Path = tuple[str | int, ...]

_DEPTH = 4
# Fields of these names have other meanings elsewhere.
_COMMON = frozenset(
    ("apiVersion", "items", "key", "kind", "metadata", "name", "namespace", "spec", "status", "type", "value")
)
_OF_METADATA = frozenset(("annotations", "labels"))
_PREFERRED = ("template", "spec", "containers", "resources", "securityContext")


def belongs(table: Table, chain: Chain, field: str, value: Any) -> Path | None:
    """Returns the path of the mapping that has the field, the nearest one above or below; None if there is none.

    `chain` leads to the mapping in which the field is. The value must be of the right type there.
    """
    if field in _COMMON:
        return None
    path = tuple(step for _, steps in chain for step in steps)
    if field in _OF_METADATA and _is_beside(table, chain, field, value):
        return (*path[:-1], "metadata")
    above = _above(table, chain, field, value)
    below = _below(table, chain[-1][0].lstrip("[{"), field, value)
    if above is not None and (below is None or above <= len(below)):
        return path[: _cut(chain, above)]
    return (*path, *below) if below is not None else None


def _is_beside(table: Table, chain: Chain, field: str, value: Any) -> bool:
    """True if the template around a spec has metadata with the field: that spec has no labels of its own.

    The spec of a whole object may have had some: that of a TrainJob until 2.1 did.
    """
    if len(chain) < 3 or chain[-1][1] != ("spec",):
        return False
    metadata = table.type(chain[-2][0].lstrip("[{")).fields.get("metadata", "a")
    return metadata[0].isupper() and _has(table, metadata, field, value)


def _above(table: Table, chain: Chain, field: str, value: Any) -> int | None:
    """Returns the number of mappings between the field and the one above that has it."""
    height = 0
    for reference, _ in reversed(chain[:-1]):
        if reference[0].isupper():
            height += 1
            if _has(table, reference, field, value):
                return height
    return None


def _cut(chain: Chain, height: int) -> int:
    """Returns the length of the path to the mapping that is so many mappings above the last one."""
    for number in range(len(chain) - 2, -1, -1):
        height -= chain[number][0][0].isupper()
        if not height:
            return sum(len(steps) for _, steps in chain[: number + 1])
    return 0


def _below(table: Table, name: str, field: str, value: Any) -> Path | None:
    """Returns the steps down to the mapping that has the field; None if several are as near."""
    holders = [(steps, one) for steps, one in _holders(table, name).get(field, ()) if _has(table, one, field, value)]
    nearest = min((len(steps) for steps, _ in holders), default=0)
    return _one_of([steps for steps, _ in holders if len(steps) == nearest]) if holders else None


@functools.lru_cache(maxsize=64)
def _holders(table: Table, name: str) -> dict[str, list[tuple[Path, str]]]:
    """Returns the mappings below a type that have a field, by the field."""
    found: dict[str, list[tuple[Path, str]]] = {}
    level: list[tuple[Path, str]] = [((), name)]
    for _ in range(_DEPTH):
        level = [deeper for steps, one in level for deeper in _inner(table, steps, one)]
        for steps, one in level:
            for field in table.type(one).fields:
                found.setdefault(field, []).append((steps, one))
    return found


def _one_of(found: list[Path]) -> Path | None:
    preferred = [steps for steps in found if all(step in _PREFERRED or step == 0 for step in steps)]
    chosen = preferred or found
    return chosen[0] if len(chosen) == 1 else None


def _inner(table: Table, steps: Path, name: str) -> list[tuple[Path, str]]:
    found: list[tuple[Path, str]] = []
    for field, reference in table.type(name).fields.items():
        inner = reference.lstrip("[")
        if inner[:1].isupper():
            index = (0,) if inner != reference else ()
            found.append(((*steps, field, *index), inner))
    return found


def _has(table: Table, name: str, field: str, value: Any) -> bool:
    reference = table.type(name).fields.get(field)
    return reference is not None and reference != "a" and table.fits(reference, value)
