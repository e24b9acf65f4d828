"""Charts in folders: the objects that a chart renders with its defaults, and with each of its `ci/*-values.yaml`."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from trainyard.document import enclosure, files, opening
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


def chart_root(folder: str, named: str | None = None) -> str:
    """Returns the folder that no link in a chart may leave: its repository, or else the folder that the user named."""
    return opening.repository(folder) or named or folder or "."


def chart_fault(folder: str, root: str, *, by_helm: bool = False) -> str | None:
    """Returns the reason why a chart is not read: rendering opens its files, and follows each link.

    Helm also reads hidden folders, such as a virtual environment.
    """
    fault = enclosure.fault_below(folder or ".", root, hidden=by_helm)
    return f"its files cannot be read: {fault}" if fault is not None else None


def open_values(folder: str, root: str) -> dict[Path, files.File]:
    """Returns the values files of a chart that exist: its defaults, and its scenarios."""
    from trainyard.loaders import chart_files

    paths = [path for path in chart_files.chart_files(folder).value_sets if path.is_file()]
    return {path: _open(path, root) for path in paths}


def read_chart(
    folder: str,
    root: str,
    about: About,
    site: Site | None = None,
    only: Sequence[str] | None = None,
    drafts: Mapping[str, files.File] | None = None,
) -> ChartRun:
    """Renders a chart with its defaults and its scenarios.

    No link in it may leave the root. `only` names the values files that count. `drafts` are files that take the place
    of those on disk.
    """
    from trainyard.loaders import chart_files

    chart = chart_files.chart_files(folder)
    fault = chart_fault(folder, root)
    if fault is not None:
        source = Source(str(chart.folder / chart_files.ABOUT), "")
        return ChartRun([Reading(source, (), (), Text(source), note=fault, chart=True)], [])
    read = _Files(chart, root, drafts or {})
    if chart_files.is_library(chart.folder):
        return ChartRun([], [])
    broken = [reading for reading in read.values() if reading.broken]
    if broken:
        return ChartRun([_sealed(reading, chart) for reading in broken], [])
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


def _sealed(reading: Reading, chart: ChartFiles) -> Reading:
    """Returns the reading of a values file, with a note in place of its fault if the file is encrypted."""
    from trainyard.linting import foreign
    from trainyard.loaders import chart_files

    if not foreign.is_sealed(reading.source.text):
        return reading
    source = Source(str(chart.folder / chart_files.ABOUT), "")
    name = reading.source.name.rpartition("/")[2]
    return Reading(source, (), (), Text(source), note=f"its {name} is no text; it may be encrypted", chart=True)


class _Files:
    """The files of a chart, each read once."""

    def __init__(self, chart: ChartFiles, root: str, drafts: Mapping[str, files.File]) -> None:
        self._chart = chart
        self._root = root
        opened = {path: drafts.get(str(path), file) for path, file in open_values(str(chart.folder), root).items()}
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

        about = pipeline.read_file(_open(self._chart.folder / ABOUT, self._root))
        more = f" ({len(refusals) - 1} more of its values files)" if len(refusals) > 1 else ""
        note = f"{refusals[0]}{more}" if refusals else ""
        chart = about._replace(documents=(), broken=(), linted=rendered, note=note, chart=True)
        texts = [*self.values(), *map(_read_text, self._chart.templates)] if rendered else []
        return [chart, *(reading._replace(documents=(), linted=True) for reading in texts)]


def _open(path: Path, root: str) -> files.File:
    return files.open_file(files.Found(str(path), str(path), root=root))


def _read_text(path: Path) -> Reading:
    source = Source(str(path), path.read_text("utf-8", "replace"))
    return Reading(source, (), (), Text(source))
