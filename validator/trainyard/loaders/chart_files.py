"""The files of a chart in a folder: its values, its scenarios, and its templates."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

ABOUT = "Chart.yaml"
VALUES = "values.yaml"
_SCENARIOS = "ci/*-values.yaml"


class ChartFiles(NamedTuple):
    """A chart in a folder: `scenarios` are the values files by which its own tests install it."""

    folder: Path
    scenarios: tuple[Path, ...]

    @property
    def values(self) -> Path:
        """The default values; the file may not exist."""
        return self.folder / VALUES

    @property
    def value_sets(self) -> tuple[Path, ...]:
        """The default values, then the scenarios: the chart is rendered with each of them."""
        return (self.values, *self.scenarios)

    @property
    def templates(self) -> tuple[Path, ...]:
        """The templates that write objects, and their helpers, without those of subcharts."""
        return tuple(path for path in sorted(self.folder.glob("templates/**/*")) if path.suffix in _TEMPLATES)


_TEMPLATES = (".yaml", ".yml", ".tpl")


def chart_files(folder: str) -> ChartFiles:
    """Returns the files of the chart in a folder."""
    path = Path(folder)
    return ChartFiles(path, tuple(sorted(path.glob(_SCENARIOS))))


def is_scenario(name: str) -> bool:
    """True for a file of values by which a chart's own tests render it."""
    folder, file = os.path.split(name)
    return file.endswith("-values.yaml") and os.path.basename(folder) == "ci"


def is_library(folder: Path) -> bool:
    """True for a chart that only helps others and renders nothing itself."""
    text = (folder / ABOUT).read_text("utf-8", "replace")
    return re.search(r"^type:\s*[\"']?library\b", text, re.MULTILINE) is not None


def owner(name: str) -> str | None:
    """Returns the folder of the chart that a file is a part of: its values, a scenario or a template.

    None for a file that belongs to no chart, and for other files of one.
    """
    parent, file = os.path.split(name)
    if file == VALUES and _is_chart(parent):
        return parent
    if is_scenario(name) and _is_chart(os.path.dirname(parent)):
        return os.path.dirname(parent)
    while parent and os.path.basename(parent):
        parent, folder = os.path.split(parent)
        if folder == "templates" and _is_chart(parent):
            return parent
    return None


def _is_chart(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, ABOUT))
