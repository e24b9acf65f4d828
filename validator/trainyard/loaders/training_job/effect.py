"""Values without effect: with another value, the chart renders the same objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gotemplate.running import FailedError
from trainyard.document.source import Path
from trainyard.loaders import json_schema
from trainyard.loaders.marks import Leaf, Marks, with_changes
from trainyard.loaders.training_job import release as chart_release
from trainyard.loaders.training_job.chart import chart
from trainyard.loaders.training_job.release import Release

# Few values are read without leaving a trace. For each the objects are rendered again, which takes milliseconds.
MAX_TRIED = 10


def inert_values(own: Mapping[str, Any], release: Release) -> Iterator[Path]:
    """Yields the user's values without effect. A value without an allowed alternative counts as effective."""
    read: set[Path] = set()
    try:
        made = chart_release.release_objects(chart_release.merged_values(own), release, read)
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
    """Returns the path up to the first list, in which items are not told apart."""
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
    """Returns the objects of the values, None if the chart refuses them."""
    values = chart_release.merged_values(own)
    if any(fault.kind == "wrong value" for fault in json_schema.faults(chart().schema, values)):
        return None
    try:
        return [one.tree for one in chart_release.release_objects(values, release)]
    except FailedError:
        return None


def _allowed(part: Any, path: Path) -> list[Any]:
    """Returns the values that the schema lists for a path."""
    for step in path:
        part = part.get("items", {}) if isinstance(step, int) else part.get("properties", {}).get(step, {})
    return list(part.get("enum", ()))
