"""Values without effect: with another value, the chart renders the same objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from gotemplate.errors import FailedError
from trainyard.document.source import Path
from trainyard.loaders import json_schema
from trainyard.loaders.marks import Leaf, Marks, with_changes
from trainyard.loaders.training_job import release as chart_release
from trainyard.loaders.training_job.chart import chart
from trainyard.loaders.training_job.release import Release

# Few values are read without leaving a trace. For each the objects are rendered again, which takes as long as reading
# fifty kilobytes of manifests.
MAX_RENDERS = 12


def inert_values(own: Mapping[str, Any], release: Release) -> Iterator[Path]:
    """Yields the user's values without effect. A value without an allowed alternative counts as effective."""
    read: set[Path] = set()
    try:
        made = chart_release.release_objects(chart_release.merged_values(own), release, read)
    except FailedError:
        return
    traced = {origin.path for one in made for origin in one.origins.values()}
    trees = [one.tree for one in made]
    marks, renders = Marks(own, ""), _Renders(release, MAX_RENDERS)
    for leaf in marks.leaves:
        if _field(leaf.path) not in read:
            yield leaf.path
        elif any(leaf.path[:length] in traced for length in range(1, len(leaf.path) + 1)):
            continue
        elif _changes_nothing(leaf, marks, own, renders, trees):
            yield leaf.path


def _field(path: Path) -> Path:
    """Returns the path up to the first list, in which items are not told apart."""
    return path[: next((number for number, step in enumerate(path) if isinstance(step, int)), len(path))]


def _changes_nothing(leaf: Leaf, marks: Marks, own: Mapping[str, Any], renders: _Renders, expected: list[Any]) -> bool:
    # One more comes first: thousands of rails or ports take a hundred times as long to render.
    others = [*([leaf.value + 1] if leaf.is_count else ()), marks.changed(leaf), *_allowed(chart().schema, leaf.path)]
    made = False
    for other in others:
        tree = None if other == leaf.value else renders.objects(with_changes(own, own, [(leaf.path, other)]))
        if renders.left < 0 or (tree is not None and tree != expected):
            return False
        made = made or tree is not None
    return made


class _Renders:
    """Renders of a release with other values, up to a number of them."""

    def __init__(self, release: Release, left: int) -> None:
        self._release = release
        self.left = left

    def objects(self, own: Mapping[str, Any]) -> list[Any] | None:
        """Returns the objects of the values; None if the chart refuses them, or after the last render."""
        self.left -= 1
        if self.left < 0:
            return None
        values = chart_release.merged_values(own)
        if any(fault.kind == "wrong value" for fault in json_schema.faults(chart().schema, values)):
            return None
        try:
            return [one.tree for one in chart_release.release_objects(values, self._release, traced=False)]
        except FailedError:
            return None


def _allowed(part: Any, path: Path) -> list[Any]:
    """Returns the values that the schema lists for a path."""
    for step in path:
        part = part.get("items", {}) if isinstance(step, int) else part.get("properties", {}).get(step, {})
    return list(part.get("enum", ()))
