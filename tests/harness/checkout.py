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


def git(root: Path, *arguments: str) -> None:
    """Run git in a repository that has no configuration of a user."""
    person = ("-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgSign=false")
    subprocess.run(["git", *person, *arguments], cwd=root, check=True, capture_output=True)


def commit(root: Path, path: str, text: str) -> None:
    """Commit a file with a text."""
    (root / path).write_text(text)
    git(root, "add", path)
    git(root, "commit", "--message", f"change {path}")


def repository(folder: Path, version: str) -> Path:
    """Make a repository of a copy whose changelog has a section for this version, so that it can be released."""
    copy(folder)
    git(folder, "init", "--quiet")
    git(folder, "add", "--all", "--force")
    git(folder, "commit", "--quiet", "--message", "all files")
    text = (folder / "CHANGELOG.md").read_text()
    if f"## {version} " not in text:
        commit(folder, "CHANGELOG.md", text.replace("## Unreleased", f"## {version} - 2026-01-31", 1))
    return folder
