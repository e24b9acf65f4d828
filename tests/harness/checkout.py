"""Copies of this checkout, in which builds and changes of files leave it alone."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]


def copy(folder: Path, *, with_new: bool = False) -> None:
    """Copy the tracked files into `folder`; `with_new` adds files that git neither tracks nor ignores.

    Raises:
        OSError: A file cannot be copied.
    """
    others = ("--others", "--exclude-standard") if with_new else ()
    command = ["git", "ls-files", "-z", "--cached", *others]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        # One that is deleted is listed until that is committed.
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)
