"""Reads everything that the names on the command line stand for: files, folders, and charts in them."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from trainyard.document import files
from trainyard.linting import parallel

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trainyard.document.document import Document
    from trainyard.engine.engine import Engine
    from trainyard.engine.subjects import Reading
    from trainyard.linting.config import Config

# Names of files in a chart that mean something only together with it.
_PARTS = ("values.yaml", "templates")


class Read(NamedTuple):
    """The names of all files, their readings, and the releases of charts."""

    names: list[str]
    readings: list[Reading]
    releases: list[list[Document]]


def read_inputs(names: Sequence[str], config: Config, engine: Engine) -> Read:
    """Reads the inputs that the names stand for. Raises `MissingError`."""
    found = files.find_inputs(names, config.exclude, gitignore=config.respect_gitignore)
    readings = parallel.read_files(found.files, engine)
    wanted: dict[str, list[str] | None] = dict.fromkeys(found.charts)
    alone = _values_alone(readings)
    wanted = {**alone, **wanted}
    result = Read([one.name for one in found.files if one.path is not None or not found.charts], readings, [])
    return result if not wanted else _with_charts(result, wanted, config, engine)


def _values_alone(readings: Iterable[Reading]) -> dict[str, list[str] | None]:
    """Returns the charts of named files that can be judged only with their chart; None stands for the whole chart."""
    charts: dict[str, list[str] | None] = defaultdict(list)
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
        known = charts[folder]
        if "templates" in name and not name.endswith("values.yaml"):
            charts[folder] = None
        elif known is not None:
            known.append(name)
    return dict(charts)


def _with_charts(read: Read, wanted: dict[str, list[str] | None], config: Config, engine: Engine) -> Read:
    from trainyard.linting.chart_folders import read_chart
    from trainyard.loaders.chart_release import About

    version = config.target.kubernetes
    about = About(kube_version=".".join(map(str, version)) if version else None)
    names, readings, releases = read
    for folder, only in wanted.items():
        run = read_chart(folder or ".", about, engine.site, only)
        parts = {reading.source.name for reading in run.readings}
        readings = [one for one in readings if one.source.name not in parts]
        readings += [one._replace(folder=None) for one in run.readings]
        names += [name for name in sorted(parts) if name not in names]
        releases += run.releases
    return Read(names, readings, releases)
