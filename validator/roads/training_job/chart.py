"""What the road knows of the chart: its name and versions, its default values and its schema."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any, NamedTuple

from validator import reading
from validator.roads.templates import rendering
from validator.source import Document, Source

# Links into the chart: a wheel holds copies of the files.
FOLDER = Path(__file__).parent / "chart"
NAME = "charts/training-job"


class Chart(NamedTuple):
    """The chart that this release of the validator knows."""

    name: str
    version: str
    app_version: str
    defaults: Document
    schema: dict[str, Any]


@functools.cache
def chart() -> Chart:
    """The chart, read once."""
    about = _document("Chart.yaml").tree
    schema = json.loads((FOLDER / "values.schema.json").read_text(encoding="utf-8"))
    whole = _without_references(schema, schema.pop("$defs", {}))
    return Chart(about["name"], about["version"], about["appVersion"], _document("values.yaml"), whole)


def files(folder: Path) -> dict[str, bytes]:
    """Everything in a chart's folder that a release depends on."""
    paths = [folder / name for name in ("Chart.yaml", "values.yaml", "values.schema.json")]
    paths = [path for path in paths if path.is_file()] + rendering.templates(folder) + rendering.files(folder)
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def _without_references(part: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(part, list):
        return [_without_references(item, definitions) for item in part]
    if not isinstance(part, dict):
        return part
    own = {key: _without_references(item, definitions) for key, item in part.items() if key != "$ref"}
    if "$ref" not in part:
        return own
    return _without_references(definitions[part["$ref"].removeprefix("#/$defs/")], definitions) | own


def _document(name: str) -> Document:
    text = (FOLDER / name).read_text(encoding="utf-8")
    documents, _ = reading.read(Source(f"{NAME}/{name}", text))
    return documents[0]
