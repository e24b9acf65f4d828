"""The linter with what it imports, as the playground loads it."""

from __future__ import annotations

import io
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from fnmatch import fnmatch
from pathlib import Path

import click
import pathspec
import platformdirs
import yaml

ROOT = Path(__file__).parents[2]
# Of pure Python. PyYAML works without libyaml, and the linter without yaml-rs.
REQUIRED = (click, pathspec, platformdirs, yaml)
CHARTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["charts-of-the-wheel"]
# Caches, examples of rules, and libraries of another processor.
LEFT_OUT = ("__pycache__", "cases", "*.so")


def archive() -> bytes:
    """Return a zip file with the modules of the linter, the charts that it reads and the packages that it imports."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        for path, name in _contents():
            # One time for all files, so that the same content gives the same bytes.
            made.writestr(zipfile.ZipInfo(name), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


def _contents() -> Iterator[tuple[Path, str]]:
    yield Path(__file__).with_name("in_browser.py"), "in_browser.py"
    packages = [Path(str(module.__file__)).parent for module in REQUIRED]
    for folder in (ROOT / "validator/trainyard", ROOT / "validator/gotemplate", *packages):
        yield from ((path, str(path.relative_to(folder.parent))) for path in _files(folder, LEFT_OUT))
    charts = ROOT / "charts"
    for name in CHARTS["folders"]:
        found = _files(charts / name, CHARTS["left-out"])
        yield from ((path, f"trainyard/charts/{path.relative_to(charts)}") for path in found)


def _files(folder: Path, left_out: Sequence[str]) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        names = path.relative_to(folder).parts
        if path.is_file() and not any(fnmatch(name, pattern) for name in names for pattern in left_out):
            yield path
