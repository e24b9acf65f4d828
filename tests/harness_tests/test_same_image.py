"""The images of a release have the same bytes on another machine: other folders, caches, umask, time zone and home."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.harness.checkout import ROOT
from tools.release import images, python

SECONDS = 1_754_697_600
BUILD = f"""
import sys
from pathlib import Path
from tools.release import images, source
_, name, wheel, folder = sys.argv
source.export(Path(), Path(folder, "checkout"))
images.write(name, Path(folder, "checkout"), Path(wheel), "1.2.3", Path(folder, "images"), int({SECONDS}))
"""


# Debian's packages are fetched twice, and PyTorch is packed twice.
@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("name", images.NAMES)
def test_an_image_has_the_same_bytes_on_another_machine(name: str, tmp_path: Path) -> None:
    wheel, _ = python.build(ROOT, tmp_path / "python", SECONDS)
    here = {"TZ": "UTC", "PYTHONHASHSEED": "1"}
    there = {"TZ": "Pacific/Auckland", "PYTHONHASHSEED": "2", "HOME": str(tmp_path / "home"), "LC_ALL": "C"}

    first = built(name, wheel, tmp_path / "here", 0o022, here)
    second = built(name, wheel, tmp_path / "there" / "in" / "another" / "place", 0o077, there)

    # The archive and its bill of materials, beside its parts.
    assert sum(file.startswith(f"trainyard-{name}-1.2.3-linux-") for file in first) == 2
    assert first == second


def built(name: str, wheel: Path, folder: Path, umask: int, variables: dict[str, str]) -> dict[str, str]:
    """Build an image with a Python and caches of its own, and return digests of its files and the parts of its archive.

    The folder is removed: two caches with PyTorch would take several gigabytes.
    """
    target, environment = folder / "images", folder / "environment"
    target.mkdir(parents=True)
    environment.symlink_to(sys.prefix)
    own = {"VIRTUAL_ENV": environment, "TRAINYARD_CACHE": folder / "cache", "UV_CACHE_DIR": folder / "uv"}
    subprocess.run(
        [environment / "bin" / "python", "-c", BUILD, name, wheel, folder],
        cwd=ROOT,
        env=os.environ | variables | {key: str(value) for key, value in own.items()},
        umask=umask,
        check=True,
        capture_output=True,
    )
    found = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in target.iterdir()}
    for archive in target.glob("*.tar"):
        with tarfile.open(archive) as parts:
            # Blobs are named by their digests, so that a difference is the one of a layer.
            found |= {part.name: str(part.size) for part in parts if part.isfile()}
    shutil.rmtree(folder)
    return found
