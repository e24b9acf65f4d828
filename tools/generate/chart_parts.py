"""Copies of files that several charts use: subcharts, programs and the license.

Helm reads a chart from one folder. Links out of it are lost on Windows, in Flux and in archives of a forge, and Helm
warns about them in every command.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml

FILES = ("charts/*/charts/*/**/*", "charts/*/LICENSE", "charts/training-preflight/files/preflight/*.py")
LICENSE = "LICENSE"
# The parts of a chart that a release depends on.
_RENDERED = ("Chart.yaml", "values.yaml", "values.schema.json", "crds", "files", "templates")
_PROGRAM = ("charts/training-job/files/preflight", "charts/training-preflight/files/preflight")


def write(root: Path) -> None:
    """Copy each chart into the charts that depend on it, and the shared files into the charts that use them."""
    for about in sorted(root.glob("charts/*/Chart.yaml")):
        for dependency in yaml.safe_load(about.read_text()).get("dependencies", ()):
            _copy_chart(root / "charts" / dependency["name"], about.parent / "charts" / dependency["name"])
        shutil.copyfile(root / LICENSE, about.parent / LICENSE)
    _copy(*(root / path for path in _PROGRAM))


def _copy_chart(source: Path, target: Path) -> None:
    # A subchart finds the templates of `common` in the chart that it is a part of.
    target.mkdir(parents=True, exist_ok=True)
    for name in _RENDERED:
        if (source / name).exists():
            _copy(source / name, target / name)


def _copy(source: Path, target: Path) -> None:
    if source.is_file():
        shutil.copyfile(source, target)
    else:
        shutil.copytree(source, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
