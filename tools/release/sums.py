"""Checksums of all files of a release, in the format of sha256sum."""

from __future__ import annotations

import hashlib
from pathlib import Path

NAME = "SHA256SUMS"


def write(folder: Path) -> Path:
    """Write the sums of all files below `folder`, by their relative paths; `sha256sum --check` reads them there."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != NAME)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files]
    (folder / NAME).write_text("".join(lines), encoding="utf-8")
    return folder / NAME
