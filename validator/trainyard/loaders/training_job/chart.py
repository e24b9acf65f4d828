"""The chart's files, its default values and its schema."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

from gotemplate import charts
from trainyard.chart_folder import CHARTS
from trainyard.document import reading
from trainyard.document.document import Document
from trainyard.document.source import Source
from trainyard.loaders import json_schema

FOLDER = CHARTS / "training-job"
NAME = "charts/training-job"


class Chart(NamedTuple):
    """The chart that this release of the validator knows."""

    defaults: Document
    schema: dict[str, Any]


@functools.cache
def chart() -> Chart:
    """Returns the chart, read once."""
    source = Source(f"{NAME}/values.yaml", (FOLDER / "values.yaml").read_text(encoding="utf-8"))
    documents, _ = reading.read(source)
    return Chart(documents[0], json_schema.load_schema(FOLDER / "values.schema.json"))


def schema_text() -> Any:
    """Returns the schema of the values as it is in the chart, with its references."""
    return json.loads((FOLDER / "values.schema.json").read_text(encoding="utf-8"))


def chart_contents(folder: Path) -> dict[str, bytes]:
    """Returns all files in a chart's folder that a release depends on."""
    paths = [folder / name for name in ("Chart.yaml", "values.yaml", "values.schema.json")]
    paths = [path for path in paths if path.is_file()]
    for part in (folder, *folder.glob("charts/*")):
        paths += [*charts.data_files(part), *charts.template_files(part)]
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
