"""Values that change nothing: with each of them changed, the chart makes the same objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from validator.roads import schema
from validator.roads.marking import Leaf, Marks, with_changes
from validator.roads.templates.running import FailedError
from validator.roads.training_job import release as chart_release
from validator.roads.training_job.chart import chart
from validator.roads.training_job.release import Release
from validator.source import Path

# Values that are read and leave no trace are few. For each the objects are made again, which takes milliseconds.
MAX_TRIED = 10


def inert(own: Mapping[str, Any], release: Release) -> Iterator[Path]:
    """The user's values without effect. A value of which the chart takes no other has one."""
    read: set[Path] = set()
    try:
        made = chart_release.objects(chart_release.merged(own), release, read)
    except FailedError:
        return
    traced = {origin.path for one in made for origin in one.origins.values()}
    trees = [one.tree for one in made]
    marks, tried = Marks(own, ""), 0
    for leaf in marks.leaves:
        if _field(leaf.path) not in read:
            yield leaf.path
        elif not any(leaf.path[:length] in traced for length in range(1, len(leaf.path) + 1)):
            tried += 1
            if tried <= MAX_TRIED and _changes_nothing(leaf, marks, own, release, trees):
                yield leaf.path


def _field(path: Path) -> Path:
    """The path up to the first list, in which items are not told apart."""
    return path[: next((number for number, step in enumerate(path) if isinstance(step, int)), len(path))]


def _changes_nothing(leaf: Leaf, marks: Marks, own: Mapping[str, Any], release: Release, expected: list[Any]) -> bool:
    others = [marks.changed(leaf), *_allowed(chart().schema, leaf.path)]
    if leaf.is_count:
        others.append(leaf.value + 1)
    made = False
    for other in others:
        tree = None if other == leaf.value else _objects(with_changes(own, own, [(leaf.path, other)]), release)
        if tree is not None and tree != expected:
            return False
        made = made or tree is not None
    return made


def _objects(own: Mapping[str, Any], release: Release) -> list[Any] | None:
    """What the chart makes of values, None when it refuses them."""
    values = chart_release.merged(own)
    if any(fault.kind == "wrong value" for fault in schema.faults(chart().schema, values)):
        return None
    try:
        return [one.tree for one in chart_release.objects(values, release)]
    except FailedError:
        return None


def _allowed(part: Any, path: Path) -> list[Any]:
    """The values that the schema lists for a path."""
    for step in path:
        part = part.get("items", {}) if isinstance(step, int) else part.get("properties", {}).get(step, {})
    return list(part.get("enum", ()))
