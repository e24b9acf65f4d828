"""Charts in folders: the objects that a chart renders with its defaults, and with each of its `ci/*-values.yaml`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainyard.document import files
from trainyard.document.source import Source
from trainyard.document.text import Text
from trainyard.engine.subjects import Reading
from trainyard.linting import pipeline

if TYPE_CHECKING:
    from pathlib import Path

    from trainyard.document.document import Document
    from trainyard.loaders.chart_files import ChartFiles
    from trainyard.loaders.chart_release import About
    from trainyard.loaders.charts import FolderChart
    from trainyard.model.site import Site


class ChartRun(NamedTuple):
    """The files of a chart, and the objects of each release of it that could be rendered."""

    readings: list[Reading]
    releases: list[list[Document]]


def read_chart(
    folder: str,
    about: About,
    site: Site | None = None,
    only: Sequence[str] | None = None,
    drafts: Mapping[str, files.File] | None = None,
) -> ChartRun:
    """Renders a chart with its defaults and its scenarios.

    `only` names the values files that count. `drafts` are files that take the place of those on disk.
    """
    from trainyard.loaders import chart_files

    chart = chart_files.chart_files(folder)
    read = _Files(chart, drafts or {})
    if chart_files.is_library(chart.folder):
        return ChartRun([], [])
    broken = [reading for reading in read.values() if reading.broken]
    if broken:
        return ChartRun(broken, [])
    releases: list[list[Document]] = []
    refusals: list[str] = []
    for path in chart.value_sets:
        if only is not None and str(path) not in only:
            continue
        try:
            releases.append(read.release(path, about, site))
        except _refusals() as error:
            refusals.append(str(error) if path == chart.values else f"with {path.relative_to(chart.folder)}: {error}")
    return ChartRun(read.report(refusals, rendered=bool(releases)), releases)


def _refusals() -> tuple[type[Exception], ...]:
    from trainyard.loaders.chart_release import NotRenderedError
    from trainyard.loaders.helm.errors import RenderingError

    return NotRenderedError, RenderingError


class _Files:
    """The files of a chart, each read once."""

    def __init__(self, chart: ChartFiles, drafts: Mapping[str, files.File]) -> None:
        self._chart = chart
        opened = {path: drafts.get(str(path)) or _open(path) for path in chart.value_sets if path.is_file()}
        self._readings = {path: pipeline.read_file(file) for path, file in opened.items()}

    def values(self) -> list[Reading]:
        """Returns the readings of all values files."""
        return list(self._readings.values())

    def release(self, path: Path, about: About, site: Site | None) -> list[Document]:
        """Returns the objects of a release with a values file."""
        values = [] if path == self._chart.values else [self._document(path)]
        return self._opened.documents(values, about, pipeline.values_below(site))

    @functools.cached_property
    def _opened(self) -> FolderChart:
        from trainyard.loaders.charts import FolderChart

        return FolderChart(self._chart.folder, self._document(self._chart.values))

    def _document(self, path: Path) -> Document:
        from trainyard.document.document import Document

        reading = self._readings.get(path)
        if reading is None or not reading.documents or not isinstance(reading.documents[0].tree, dict):
            return Document(Source(str(path), "") if reading is None else reading.source, 0, {}, ())
        return reading.documents[0]

    def report(self, refusals: Sequence[str], *, rendered: bool) -> list[Reading]:
        """Returns the readings for the report: comments in the chart's files may allow findings."""
        from trainyard.loaders.chart_files import ABOUT

        about = pipeline.read_file(_open(self._chart.folder / ABOUT))
        more = f" ({len(refusals) - 1} more of its values files)" if len(refusals) > 1 else ""
        note = f"{refusals[0]}{more}" if refusals else ""
        chart = about._replace(documents=(), broken=(), linted=rendered, note=note, chart=True)
        texts = [*self.values(), *map(_read_text, self._chart.templates)] if rendered else []
        return [chart, *(reading._replace(documents=(), linted=True) for reading in texts)]


def _open(path: Path) -> files.File:
    return files.open_file(files.Found(str(path), str(path)))


def _read_text(path: Path) -> Reading:
    source = Source(str(path), path.read_text("utf-8", "replace"))
    return Reading(source, (), (), Text(source))
