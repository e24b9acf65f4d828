"""The commit that is released. Files outside of it never get into a package."""

from __future__ import annotations

import io
import subprocess
import tarfile
from pathlib import Path

from tests.harness.cluster.archive import unpack
from tools.release.errors import ReleaseError

# Tags of releases, such as v0.3.0.
TAGS = "v[0-9]*"


def git(root: Path, *arguments: str) -> str:
    """Return what git prints, without the last line break."""
    result = subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)
    if result.returncode:
        raise ReleaseError(f"git {arguments[0]} failed in {root}: {result.stderr.strip()}")
    return result.stdout.rstrip("\n")


def require_committed(root: Path) -> None:
    """Refuse a working tree with changes: a package would name a commit that does not have its content."""
    changed = git(root, "status", "--porcelain").splitlines()
    if changed:
        shown = "\n".join(f"  {line}" for line in changed[:10])
        raise ReleaseError(f"{len(changed)} files differ from the last commit. Commit or remove them first:\n{shown}")


def time_of(root: Path) -> int:
    """Return the time of the commit, in seconds of Unix time. All files of a release have it."""
    return int(git(root, "log", "-1", "--format=%ct"))


def last_release(root: Path, version: str) -> str | None:
    """Return the newest tag of a release before `version` that the commit descends from, None before the first one."""
    tags = git(root, "tag", "--merged", "HEAD", "--sort=-version:refname", "--list", TAGS).splitlines()
    return next((tag for tag in tags if tag != f"v{version}"), None)


def export(root: Path, folder: Path) -> None:
    """Write the files of the commit into `folder`."""
    command = ["git", "archive", "--format=tar", "HEAD"]
    packed = subprocess.run(command, cwd=root, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        unpack(archive, folder)
