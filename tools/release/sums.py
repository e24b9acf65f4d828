"""Checksums of all files of a release, in the format of sha256sum, and their signatures."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from tests.harness.cluster import tools
from tools.release.errors import ReleaseError

NAME = "SHA256SUMS"


def write(folder: Path) -> Path:
    """Write the sums of all files below `folder`, by their relative paths; `sha256sum --check` reads them there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    (folder / NAME).write_text("".join(f"{_digest(path)}  {path.relative_to(folder)}\n" for path in files))
    return folder / NAME


def sign(sums: Path, key: Path) -> Path:
    """Write the signature of the sums beside them, with a private key of cosign; `cosign verify-blob` checks it."""
    command = [str(tools.binary("signing")), "file", "--key", str(key), str(sums)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ReleaseError(f"the checksums cannot be signed: {result.stderr.strip()}")
    return sums.with_name(f"{sums.name}.sig")


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
