"""Charts read from their folders, with their subcharts."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any, NamedTuple

from gotemplate.syntax import Block, Definitions, parse
from gotemplate.yaml_reader import load_document

_SUFFIXES = (".tpl", ".yaml")


class Template(NamedTuple):
    """A template file: what it writes itself, and the templates that it defines for others."""

    block: Block
    definitions: Definitions


class Chart:
    """A chart in a folder. `about` is its Chart.yaml; `values` are its defaults, read from values.yaml if not given."""

    def __init__(self, folder: Path, values: dict[str, Any] | None = None) -> None:
        self.folder = folder
        self.about: dict[str, Any] = _tree(folder / "Chart.yaml")
        self.values: dict[str, Any] = _tree(folder / "values.yaml") if values is None else values

    @functools.cached_property
    def files(self) -> dict[str, str]:
        """The text files that templates may read through `.Files`, by path."""
        return {str(path.relative_to(self.folder)): path.read_text("utf-8") for path in data_files(self.folder)}

    @functools.cached_property
    def parts(self) -> dict[str, Chart]:
        """The subcharts in the folder `charts`, by name."""
        found = (Chart(path.parent) for path in sorted(self.folder.glob("charts/*/Chart.yaml")))
        return {part.about["name"]: part for part in found}

    @functools.cached_property
    def templates(self) -> dict[str, Template]:
        """The chart's own templates, by path. A library chart has none that write output. Raises `UnsupportedError`."""
        is_library = self.about.get("type") == "library"
        found = {}
        for path in template_files(self.folder):
            if path.name.startswith("_") or not is_library:
                definitions: Definitions = {}
                block = parse(path.read_text("utf-8"), definitions)
                found[str(path.relative_to(self.folder))] = Template(block, definitions)
        return found

    def glob(self, pattern: str) -> dict[str, str]:
        """Returns the files whose paths match the pattern; `*` does not match `/`."""
        wanted = re.compile(re.escape(pattern).replace(r"\*\*", ".*").replace(r"\*", "[^/]*").replace(r"\?", "[^/]"))
        return {path: text for path, text in self.files.items() if wanted.fullmatch(path)}


def template_files(folder: Path) -> list[Path]:
    """Returns the templates of a chart that render objects, and their helpers."""
    return sorted(path for path in folder.glob("templates/**/*") if path.suffix in _SUFFIXES)


def data_files(folder: Path) -> list[Path]:
    """Returns the files in a chart's folder that templates may read."""
    found = folder.glob("files/**/*")
    return sorted(path for path in found if path.is_file() and path.parent.name != "__pycache__")


def _tree(path: Path) -> dict[str, Any]:
    found = load_document(path.read_text("utf-8")) if path.is_file() else None
    return found if isinstance(found, dict) else {}
