"""Packages of Python: wheel and source distribution of the command line and of the trainer."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from tools.release import archives
from tools.release.errors import ReleaseError

# The folders with a pyproject.toml: the command line and the trainer.
PROJECTS = (".", "trainer")


def project(folder: Path) -> dict[str, Any]:
    """Return the table `project` of a pyproject.toml."""
    about: dict[str, Any] = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return about


def build(folder: Path, target: Path, seconds: int) -> list[Path]:
    """Write wheel and source distribution of a folder into `target` and return their paths, in this order."""
    target.mkdir(parents=True, exist_ok=True)
    before = set(target.iterdir())
    command = [sys.executable, "-m", "uv", "build", "--no-build-isolation", "--quiet", "--out-dir", str(target)]
    environment = os.environ | {"SOURCE_DATE_EPOCH": str(seconds)}
    result = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ReleaseError(f"uv build failed for {project(folder)['name']}: {result.stderr.strip()}")
    made = {path.suffix: path for path in target.iterdir() if path not in before and path.suffix in {".whl", ".gz"}}
    archives.normalize(made[".gz"], seconds)
    return [made[".whl"], made[".gz"]]
