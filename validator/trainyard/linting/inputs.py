"""Reads everything that the names on the command line stand for: files, folders, and charts in them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol

from trainyard.document import files
from trainyard.linting import parallel, pipeline
from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trainyard.document.document import Document
    from trainyard.document.files import File
    from trainyard.engine.engine import Engine
    from trainyard.engine.subjects import Reading
    from trainyard.linting.config import Config
    from trainyard.linting.report import Report
    from trainyard.model.site import Site


class ChartValues(Protocol):
    """A chart that the user names, with its values."""

    def files(self) -> list[File]:
        """Returns the values files that exist."""

    def read(
        self, kube_version: str | None, site: Site | None, drafts: Mapping[str, File] | None = None
    ) -> list[Reading]:
        """Returns the readings of the values files, or of their drafts, and of the objects that the chart renders."""


class ChartInput(NamedTuple):
    """A chart to judge: `folder` is the named folder that it is in, None for a chart of which files are named.

    `only` are the values files that count; None stands for the defaults and all scenarios.
    """

    folder: str | None = None
    only: list[str] | None = None


Charts = dict[str, ChartInput]


class Read(NamedTuple):
    """The names of all files, their readings, the releases of charts, and notes on what was not read."""

    names: list[str]
    readings: list[Reading]
    releases: list[list[Document]]
    notes: tuple[str, ...] = ()


def read_inputs(names: Sequence[str], config: Config, engine: Engine) -> Read:
    """Reads the inputs that the names stand for. Raises `MissingError`."""
    found = files.find_inputs(names, config.exclude, gitignore=config.respect_gitignore)
    readings = parallel.read_files(found.files, engine)
    charts = _charts(found.charts, readings)
    notes = tuple(f"{link}: not checked: a link to a folder; name the folder to check it" for link in found.links)
    read = Read([one.name for one in found.files], readings, [], notes)
    return _with_charts(read, charts, config, engine) if charts else read


class Drafts(Protocol):
    """The state of files that may differ from the one on disk, as the buffers of an editor do."""

    def current(self, file: File) -> File:
        """Returns the state of a file that counts."""

    def read(self, file: File) -> Reading:
        """Returns the reading of a file, which may be kept from an earlier call."""


class _OnDisk:
    """Files as they are on disk."""

    def current(self, file: File) -> File:
        return file

    def read(self, file: File) -> Reading:
        return pipeline.read_input(file)


class Fixable:
    """The files that a fix may change, and a lint of them in any state."""

    def __init__(
        self,
        names: Sequence[str],
        config: Config,
        engine: Engine,
        chart: ChartValues | None,
        drafts: Drafts | None = None,
    ) -> None:
        self._config, self._engine, self._chart = config, engine, chart
        self._drafts = drafts or _OnDisk()
        found = files.find_inputs(names, config.exclude, gitignore=config.respect_gitignore)
        plain = [self._drafts.current(files.open_file(one)) for one in found.files]
        self._charts = _charts(found.charts, map(self._drafts.read, plain))
        self._plain = {file.source.name for file in plain}
        values = [file for folder, one in self._charts.items() for file in _values_files(folder, one.folder)] + (
            chart.files() if chart else []
        )
        known = (*plain, *map(self._drafts.current, values))
        self.files = tuple({file.source.name: file for file in known}.values())

    def lint(self, drafts: tuple[File, ...], engine: Engine) -> Report:
        """Lints the files in their current state, together with the charts that they belong to."""
        by_name = {file.source.name: file for file in drafts}
        readings = [self._drafts.read(by_name[name]) for name in by_name if name in self._plain]
        read = _with_charts(Read([], readings, []), self._charts, self._config, engine, by_name)
        if self._chart is not None:
            own = self._chart.read(kube_version(self._config), engine.site, by_name)
            read = read._replace(readings=[*read.readings, *own])
        return pipeline.lint(read.readings, engine, self._config.allow, read.releases)


def kube_version(config: Config) -> str | None:
    """Returns the version of Kubernetes for which charts are rendered, None for the default."""
    return ".".join(map(str, config.target.kubernetes)) if config.target.kubernetes else None


def _values_files(folder: str, named: str | None) -> list[File]:
    from trainyard.linting.chart_folders import chart_fault, chart_root, open_values

    root = chart_root(folder, named)
    return [] if chart_fault(folder, root) else list(open_values(folder, root).values())


def _charts(folders: Mapping[str, str], readings: Iterable[Reading]) -> Charts:
    """Returns the charts in folders, and those of named files that can be judged only with their chart."""
    named: Charts = {}
    for reading in readings:
        name = reading.source.name
        # Most names are neither: this must cost nothing.
        if reading.folder is not None or not ("values.yaml" in name or "templates" in name):
            continue
        from trainyard.loaders import chart_files
        from trainyard.loaders.charts import is_known

        folder = chart_files.owner(name)
        if folder is None or any(map(is_known, reading.documents)):
            continue
        only = named.setdefault(folder, ChartInput(None, [])).only
        if not name.endswith("values.yaml"):
            named[folder] = ChartInput()
        elif only is not None:
            only.append(os.path.normpath(name))
    return {**named, **{chart: ChartInput(folder) for chart, folder in folders.items()}}


def _with_charts(
    read: Read, charts: Charts, config: Config, engine: Engine, drafts: Mapping[str, File] | None = None
) -> Read:
    from trainyard.linting.chart_folders import chart_root, read_chart
    from trainyard.loaders.chart_release import About

    about = About(kube_version=kube_version(config))
    names, readings, releases, notes = read
    for chart, wanted in charts.items():
        run = read_chart(chart or ".", chart_root(chart, wanted.folder), about, engine.site, wanted.only, drafts)
        parts = {os.path.normpath(reading.source.name) for reading in run.readings}
        readings = [one for one in readings if os.path.normpath(one.source.name) not in parts]
        known = set(map(os.path.normpath, names))
        readings += [one._replace(folder=wanted.folder) for one in run.readings]
        names += [one.source.name for one in run.readings if os.path.normpath(one.source.name) not in known]
        releases += run.releases
    if not readings:
        # A library chart renders nothing: a folder that holds nothing else was not checked.
        readings = [pipeline.read_input(files.open_file(files.Found(folder, None))) for folder in charts]
    return Read(names, readings, releases, notes)
