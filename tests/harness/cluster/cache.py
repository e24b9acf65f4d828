"""Content-addressed folders in the user's cache: an entry is complete or does not exist.

An entry is named by the hash of its inputs. It is written under a temporary name and renamed into place, so a build
that is killed at any point leaves nothing that a later run could take for a result.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock
from platformdirs import user_cache_path

Part = str | bytes | Path


def root() -> Path:
    """Return the harness's cache folder: `TRAINYARD_CACHE`, else the platform's user cache."""
    override = os.environ.get("TRAINYARD_CACHE")
    return Path(override).expanduser().resolve() if override else user_cache_path("trainyard")


def digest(*parts: Part) -> str:
    """Return 12 hex digits that identify content: strings and bytes, and files and folders by name and content."""
    sha = hashlib.sha256()
    for part in parts:
        for label, content in _contents(part):
            sha.update(f"{label}:{len(content)}\0".encode())
            sha.update(content)
    return sha.hexdigest()[:12]


def _contents(part: Part) -> Iterable[tuple[str, bytes]]:
    if isinstance(part, str):
        yield "str", part.encode()
    elif isinstance(part, bytes):
        yield "bytes", part
    elif part.is_dir():
        for file in sorted(path for path in part.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
            yield str(file.relative_to(part)), file.read_bytes()
    else:
        yield part.name, part.read_bytes()


def lock(name: str) -> FileLock:
    """Return a lock between processes; the kernel releases it when its holder dies for any reason."""
    path = root() / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path)


def cached(kind: str, key: str, build: Callable[[Path], None], *, keep_others: bool = True) -> Path:
    """Return the folder `kind/key`, calling `build(folder)` first when there is none.

    `build` fills an empty folder and raises when it cannot. Two processes that want the same entry build it once. With
    `keep_others=False` a new entry replaces older ones of its name, which is `key` without the hash at its end.
    """
    entry = root() / kind / key
    if entry.exists():
        return entry
    with lock(f"{kind}-{key}".replace("/", "-")):
        if entry.exists():
            return entry
        partial = entry.with_name(f".partial-{entry.name}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        build(partial)
        partial.rename(entry)
    if not keep_others:
        name = key.rsplit("-", 1)[0]
        for other in entry.parent.iterdir():
            if other != entry and other.name.rsplit("-", 1)[0] == name:
                shutil.rmtree(other, ignore_errors=True)
    return entry


def log_path(name: str) -> Path:
    """Return the log file of a step; each run of the step empties it."""
    path = root() / "logs" / f"{name}.log"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


@contextmanager
def scratch(name: str) -> Iterator[Path]:
    """Give one step a folder for intermediate files, emptied before and after; the caller holds the step's lock."""
    folder = root() / "scratch" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
