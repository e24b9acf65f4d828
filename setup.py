"""Puts the charts that the validator reads into the wheel. An editable installation reads those of the checkout."""

from __future__ import annotations

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

CHARTS = ("training-job", "training-platform", "training-preflight", "training-runtimes")
FABRIC = "common/files/fabric"
# What no rendering depends on. The definitions of the operator are a megabyte.
LEFT_OUT = shutil.ignore_patterns("ci", "tests", "types", "crds", "README.md*", "LICENSE", "__pycache__", ".*")


class BuildWithCharts(build_py):
    """Copies the charts beside the modules."""

    def run(self) -> None:
        """Copy the modules, then the charts."""
        super().run()
        if not self.editable_mode:
            for name in (*CHARTS, FABRIC):
                target = Path(self.build_lib, "trainyard", "charts", name)
                shutil.copytree(Path("charts", name), target, ignore=LEFT_OUT, dirs_exist_ok=True)


setup(cmdclass={"build_py": BuildWithCharts})
