"""The documentation site as one archive: pages for any web server, such as `python3 -m http.server`."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from tools.release import archives
from tools.release.errors import ReleaseError

NAME = "site.tar.gz"


def write(checkout: Path, folder: Path, seconds: int) -> Path:
    """Write an archive with the pages of a checkout in a folder `site`, and return its path."""
    target = folder / NAME
    with tempfile.TemporaryDirectory(dir=folder.parent) as made:
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", made]
        result = subprocess.run(
            command, cwd=checkout, env=_environment(checkout, seconds), capture_output=True, text=True, check=False
        )
        if result.returncode:
            raise ReleaseError(f"mkdocs build failed: {result.stderr.strip() or result.stdout.strip()}")
        with tarfile.open(target, "w:gz", compresslevel=1) as archive:
            archive.add(made, "site")
    archives.normalize(target, seconds)
    return target


def _environment(checkout: Path, seconds: int) -> dict[str, str]:
    """Return variables with which the pages describe the packages of the checkout, and not those that are installed."""
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, (checkout, checkout / "validator"))),
        "SOURCE_DATE_EPOCH": str(seconds),
        "DISABLE_MKDOCS_2_WARNING": "true",
        "NO_MKDOCS_2_WARNING": "true",
    }
