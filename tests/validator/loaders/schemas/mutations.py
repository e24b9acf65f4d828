"""Objects with one fault each, made from right ones."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml

Object = dict[str, Any]
Steps = tuple[str | int, ...]

OBJECTS = Path(__file__).with_name("objects.yaml")
_NAMES = ("apiVersion", "kind", "metadata", "status")


class Mutant(NamedTuple):
    """An object with one change: `how` names it, and `at` is the path of the changed field."""

    how: str
    at: Steps
    tree: Object


def objects() -> list[Object]:
    """Return the right objects."""
    return [tree for tree in yaml.load_all(OBJECTS.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader) if tree]


def mutants(tree: Object) -> Iterator[Mutant]:
    """Yield the object with each of its fields misspelt, and with each of another type."""
    for steps, value in _fields(tree):
        if steps[0] in _NAMES:
            continue
        *above, last = steps
        if isinstance(last, str) and not _in_map(steps):
            changed = copy.deepcopy(tree)
            holder = _at(changed, above)
            holder[f"{last}s"] = holder.pop(last)
            yield Mutant("misspelt", steps, changed)
        changed = copy.deepcopy(tree)
        _at(changed, above)[last] = ["seven"] if not isinstance(value, list) else {"seven": "seven"}
        yield Mutant("retyped", steps, changed)


def _fields(tree: Any, steps: Steps = ()) -> Iterator[tuple[Steps, Any]]:
    children = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for step, value in children:
        yield (*steps, step), value
        yield from _fields(value, (*steps, step))


def _at(tree: Any, steps: list[str | int]) -> Any:
    for step in steps:
        tree = tree[step]
    return tree


def _in_map(steps: Steps) -> bool:
    """True if the key is a user's own."""
    maps = ("matchLabels", "labels", "annotations", "nodeSelector", "limits", "requests", "data", "binaryData", "hard")
    more = ("stringData", "capacity", "parameters", "volumeAttributes", "default", "defaultRequest")
    roles = ("pytorchReplicaSpecs", "mpiReplicaSpecs")
    return len(steps) > 1 and steps[-2] in (*maps, *more, *roles)
