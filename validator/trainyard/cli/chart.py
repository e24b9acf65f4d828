"""The options that name a chart, and the files of its release."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from validator.cli.errors import NothingLintedError

if TYPE_CHECKING:
    from validator.linting import Reading
    from validator.site import Site

Function = Callable[..., Any]

_OPTIONS = (
    click.option("--chart", metavar="FOLDER", type=click.Path(path_type=Path), help="Lint what this chart renders."),
    click.option(
        "-f", "--values", multiple=True, metavar="FILE", help="Values for the chart; repeat it, the last file wins."
    ),
    click.option("--release", metavar="NAME", default="run", show_default=True, help="Name of the chart's release."),
    click.option(
        "-n", "--namespace", metavar="NAME", default="default", show_default=True, help="Namespace of the release."
    ),
    click.option(
        "--helm", metavar="PATH", envvar="HELM_BIN", help="The Helm that renders charts which are not Trainyard's."
    ),
)


def chart_options(function: Function) -> Function:
    """The options of a release, from which `named_chart` makes one."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


class Chart(NamedTuple):
    """A chart and its release, as the user names them."""

    folder: Path
    values: tuple[str, ...]
    release: str
    namespace: str
    helm: str | None

    def read(self, kube_version: str | None, site: Site | None = None) -> list[Reading]:
        """The values files and what the chart makes of them."""
        from validator import files, linting
        from validator.roads import charts
        from validator.roads.failure import RenderingError
        from validator.source import Source

        if not self.folder.is_dir():
            raise click.UsageError(f"--chart {self.folder}: there is no such folder")
        default = self.folder / "values.yaml"
        empty = [] if self.values or default.is_file() else [files.File(Source(str(default), ""))]
        named = empty or files.load(self.values or [str(default)])
        readings = [linting.read(file) for file in named]
        about = charts.Release(self.folder, self.release, self.namespace, self.helm, kube_version)
        try:
            return linting.released(about, readings, site)
        except RenderingError as error:
            raise NothingLintedError(f"--chart: {error}") from None


def named_chart(
    chart: Path | None = None,
    values: tuple[str, ...] = (),
    release: str = "",
    namespace: str = "",
    helm: str | None = None,
) -> Chart | None:
    """The chart of the options, None when they name none."""
    if chart is not None:
        return Chart(chart, values, release, namespace, helm)
    if values:
        raise click.UsageError("-f: name the chart too, as `--chart charts/training-job`, or lint the file itself")
    return None
