"""Puts the charts that the validator reads into the wheel. An editable installation reads those of the checkout."""

from __future__ import annotations

import shutil
import tomllib
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parent
CHARTS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["charts-of-the-wheel"]


class BuildWithCharts(build_py):
    """Copies the charts beside the modules."""

    def run(self) -> None:
        """Copy the modules, then the charts."""
        super().run()
        if not self.editable_mode:
            for name in CHARTS["folders"]:
                target = Path(self.build_lib, "trainyard", "charts", name)
                ignore = shutil.ignore_patterns(*CHARTS["left-out"])
                shutil.copytree(ROOT / "charts" / name, target, ignore=ignore, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithCharts})
