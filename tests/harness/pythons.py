"""Pythons of this machine that the packages support: those on PATH and those of pyenv, whose shims may not start."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

OLDEST = 11
NEWEST = 20


def supported() -> dict[str, Path]:
    """Return an interpreter of each version, such as `3.12`."""
    shims = (shutil.which(f"python3.{minor}") for minor in range(OLDEST, NEWEST))
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    found: dict[str, Path] = {}
    for path in (Path(sys.executable), *map(Path, filter(None, shims)), *sorted(root.glob("versions/3.*/bin/python3"))):
        version = _version(path)
        if version is not None and int(version.partition(".")[2]) >= OLDEST:
            found.setdefault(version, path)
    return found


def _version(python: Path) -> str | None:
    command: list[str | Path] = [python, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    return answer.stdout.strip() or None
