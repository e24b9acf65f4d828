"""The linter with what it imports, as the playground loads it."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator, Set
from pathlib import Path

import click
import pathspec
import platformdirs
import yaml

ROOT = Path(__file__).parents[2]
# Of pure Python. PyYAML works without libyaml, and the linter without yaml-rs.
REQUIRED = (click, pathspec, platformdirs, yaml)
# As in the wheel, see setup.py.
CHARTS = ("training-job", "training-platform", "training-preflight", "training-runtimes", "common/files/fabric")
# Caches, and examples of rules.
LEFT_OUT = {"__pycache__", "cases"}
LEFT_OUT_OF_CHARTS = {"ci", "crds", "tests", "types"}


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
    for name in CHARTS:
        charts = ROOT / "charts"
        yield from (
            (path, f"trainyard/charts/{path.relative_to(charts)}") for path in _files(charts / name, LEFT_OUT_OF_CHARTS)
        )


def _files(folder: Path, left_out: Set[str]) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".so" and not left_out & set(path.relative_to(folder).parts):
            yield path
