"""Values that change nothing: with each of them changed, the chart makes the same objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from validator.roads import schema
from validator.roads.marking import Marks, with_changes
from validator.roads.origins import separate
from validator.roads.training_job.chart import chart
from validator.roads.training_job.merging import with_defaults
from validator.roads.training_job.objects import objects
from validator.roads.training_job.values import RefusedError, Release, Values
from validator.source import Path

# For each value the objects are made again, and with the values both become more: two thousand take seconds.
MAX_TRIED = 500


def inert(own: Mapping[str, Any], release: Release) -> Iterator[Path]:
    """The user's values without effect. A value of which the chart takes no other has one."""
    known = chart()
    marks = Marks(own, "")
    if len(marks.leaves) > MAX_TRIED:
        return
    expected = _objects(own, release)
    for leaf in marks.leaves:
        others = [marks.changed(leaf), *_allowed(known.schema, leaf.path)]
        if leaf.is_count:
            others.append(leaf.value + 1)
        trees = [
            _objects(with_changes(own, own, [(leaf.path, other)]), release) for other in others if other != leaf.value
        ]
        made = [tree for tree in trees if tree is not None]
        if made and all(tree == expected for tree in made):
            yield leaf.path


def _objects(own: Mapping[str, Any], release: Release) -> list[Any] | None:
    """What the chart makes of values, None when it refuses them."""
    known = chart()
    merged = with_defaults(dict(own), known.defaults.tree)
    if any(fault.kind == "wrong value" for fault in schema.faults(known.schema, merged)):
        return None
    try:
        return [separate(tree, {}) for _, tree in objects(Values(merged, release))]
    except RefusedError:
        return None


def _allowed(part: Any, path: Path) -> list[Any]:
    """The values that the schema lists for a path."""
    for step in path:
        part = part.get("items", {}) if isinstance(step, int) else part.get("properties", {}).get(step, {})
    return list(part.get("enum", ()))
