"""The options that name a chart, and the readings of its release."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from trainyard.cli.errors import NothingLintedError
from trainyard.cli.option_list import Function, option_list

if TYPE_CHECKING:
    from trainyard.document.files import File
    from trainyard.engine.subjects import Reading
    from trainyard.model.site import Site


_OPTIONS = (
    click.option(
        "--chart", metavar="FOLDER", type=click.Path(path_type=Path), help="Lint the manifests that this chart renders."
    ),
    click.option(
        "-f", "--values", multiple=True, metavar="FILE", help="Values for the chart. Repeatable; the last file wins."
    ),
    click.option("--release", metavar="NAME", default="run", show_default=True, help="Name of the release."),
    click.option(
        "-n", "--namespace", metavar="NAME", default="default", show_default=True, help="Namespace of the release."
    ),
    click.option(
        "--helm",
        metavar="PATH",
        envvar="HELM_BIN",
        help="Path of the Helm binary. It renders other charts than Trainyard's.",
    ),
)


def chart_options(function: Function) -> Function:
    """Adds the options of a release, from which `named_chart` builds a `Chart`."""
    return option_list(*_OPTIONS)(function)


class ChartOption(NamedTuple):
    """A chart and its release, as named by the user."""

    folder: Path
    values: tuple[str, ...]
    release: str
    namespace: str
    helm: str | None

    def files(self) -> list[File]:
        """Returns the values files that exist; without any, the chart's own."""
        from trainyard.document import files
        from trainyard.linting import chart_folders

        if not self.folder.is_dir():
            raise click.UsageError(f"--chart {self.folder}: there is no such folder")
        folder = str(self.folder)
        fault = chart_folders.chart_fault(folder, chart_folders.chart_root(folder), by_helm=True)
        if fault is not None:
            raise NothingLintedError(f"--chart {self.folder}: {fault}")
        default = self.folder / "values.yaml"
        named = self.values or ([str(default)] if default.is_file() else [])
        return list(files.open_files(named))

    def read(
        self, kube_version: str | None, site: Site | None = None, drafts: Mapping[str, File] | None = None
    ) -> list[Reading]:
        """Returns the readings of the values files, or of their drafts, and of the objects that the chart renders."""
        from trainyard.document.files import File
        from trainyard.document.source import Source
        from trainyard.linting import pipeline
        from trainyard.loaders.helm.errors import RenderingError
        from trainyard.loaders.helm.release import ChartRelease

        known = drafts or {}
        opened = self.files() or [File(Source(str(self.folder / "values.yaml"), ""))]
        readings = [pipeline.read_file(known.get(file.source.name, file)) for file in opened]
        about = ChartRelease(self.folder, self.release, self.namespace, self.helm, kube_version)
        try:
            return pipeline.released(about, readings, site)
        except RenderingError as error:
            raise NothingLintedError(f"--chart: {error}") from None


def named_chart(
    chart: Path | None = None,
    values: tuple[str, ...] = (),
    release: str = "",
    namespace: str = "",
    helm: str | None = None,
) -> ChartOption | None:
    """Returns the chart of the options, None if they name none."""
    if chart is not None:
        return ChartOption(chart, values, release, namespace, helm)
    if values:
        raise click.UsageError("-f: name the chart too, as `--chart charts/training-job`, or lint the file itself")
    return None
