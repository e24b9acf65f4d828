"""The image of the command line has the same bytes on another machine: other folders, umask, time zone and home."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.checkout import ROOT
from tools.release import python

SECONDS = 1_754_697_600
BUILD = f"""
import sys
from pathlib import Path
from tools.release import images
_, wheel, target = sys.argv
images.write("cli", Path(), Path(wheel), "1.2.3", Path(target), int({SECONDS}))
"""


@pytest.mark.long
def test_an_image_has_the_same_bytes_on_another_machine(tmp_path: Path) -> None:
    wheel, _ = python.build(ROOT, tmp_path / "python", SECONDS)
    here = {"TZ": "UTC", "PYTHONHASHSEED": "1"}
    there = {"TZ": "Pacific/Auckland", "PYTHONHASHSEED": "2", "HOME": str(tmp_path / "home"), "LC_ALL": "C"}

    first = built(wheel, tmp_path / "here", 0o022, here)
    second = built(wheel, tmp_path / "there" / "in" / "another" / "place", 0o077, there)

    # The archive and its bill of materials.
    assert len(first) == 2
    assert first == second


def built(wheel: Path, folder: Path, umask: int, variables: dict[str, str]) -> dict[str, str]:
    """Builds the image with a cache of its own, and returns the digests of its files."""
    target = folder / "images"
    target.mkdir(parents=True)
    # The packages of PyPI are pinned by their hashes; fetching them again would show nothing.
    kept = {"UV_CACHE_DIR": os.environ.get("UV_CACHE_DIR", str(Path.home() / ".cache/uv"))}
    environment = os.environ | kept | {"TRAINYARD_CACHE": str(folder / "cache")} | variables
    command = [sys.executable, "-c", BUILD, str(wheel), str(target)]
    subprocess.run(command, cwd=ROOT, env=environment, umask=umask, check=True, capture_output=True)
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in target.iterdir()}
