"""Transfer of files as streams. An interrupted file is continued, and a complete file gets its final name."""

from __future__ import annotations

import contextlib
import hashlib
import os
from dataclasses import dataclass
from http.client import HTTPException
from io import BufferedIOBase
from pathlib import Path
from typing import Callable

from report import FetchError, Progress, TemporaryError, persist, readable, say

CHUNK = 1 << 20


@dataclass(frozen=True)
class Stream:
    """The bytes of a file from `start` on. `tag` names its version; it is empty if the file cannot be continued."""

    body: BufferedIOBase
    start: int
    total: int | None
    tag: str


@dataclass(frozen=True)
class Item:
    """A file to receive at `path`. `open` takes an offset and the version of the bytes before it."""

    path: str
    open: Callable[[int, str], Stream]
    size: int = 0
    modified: int | None = None
    sha256: str = ""


def receive(items: list[Item], staged: Path, progress: Progress) -> None:
    """Receive every item into `staged/data`, and delete other files there."""
    data = staged / "data"
    wanted = {data / item.path for item in items}
    for root, folders, names in os.walk(data):
        links = [name for name in folders if Path(root, name).is_symlink()]
        for path in (Path(root, name) for name in [*names, *links]):
            if path not in wanted:
                path.unlink()
    progress.total_files, progress.total_size = len(items), sum(item.size for item in items)
    for item in items:
        target = data / item.path
        if data.resolve() not in target.resolve().parents:
            raise FetchError(f"the source names {item.path}, which lies outside of the data set")
        if not _is_whole(target, item):
            _receive(item, target, staged / "state", progress)
        else:
            progress.size += target.stat().st_size
        progress.add(files=1)


def sync(path: Path) -> None:
    """Makes a file or a folder durable."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _is_whole(target: Path, item: Item) -> bool:
    """Returns true if an existing file is this item: it was complete, but the source may have changed since."""
    if not target.exists():
        return False
    about = target.stat()
    return about.st_size == (item.size or about.st_size) and item.modified in (None, about.st_mtime_ns)


def _receive(item: Item, target: Path, state: Path, progress: Progress) -> None:
    part = state / f"{hashlib.sha256(os.fsencode(item.path)).hexdigest()[:24]}.part"
    counted = progress.size
    persist(item.path, lambda: _continue(item, part, progress, counted), lambda: _size(part))
    if item.sha256 and (found := _sha256(part)) != item.sha256:
        part.unlink()
        raise FetchError(f"{item.path} has the SHA-256 {found}, but the source reports {item.sha256}")
    if item.modified is not None:
        os.utime(part, ns=(item.modified, item.modified))
    target.parent.mkdir(parents=True, exist_ok=True)
    # A power cut must not leave an empty file under the final name: the next attempt would take it as complete.
    sync(part)
    part.replace(target)
    part.with_suffix(".tag").unlink(missing_ok=True)


def _continue(item: Item, part: Path, progress: Progress, counted: int) -> None:
    """Send one request: append the missing bytes to `part`, or start over if the source has another version."""
    note = part.with_suffix(".tag")
    tag = note.read_text(encoding="utf-8") if note.exists() else ""
    stream = item.open(_size(part) if tag else 0, tag)
    with contextlib.closing(stream.body), part.open("r+b" if part.exists() else "wb") as output:
        output.truncate(stream.start)
        if stream.tag != tag:
            note.write_text(stream.tag, encoding="utf-8")
        if stream.start:
            say(f"{item.path}: continuing at {readable(stream.start)}")
        progress.size = counted + stream.start
        output.seek(stream.start)
        while chunk := _read(stream):
            output.write(chunk)
            # Limits the loss to bytes in transit if the process is killed.
            output.flush()
            progress.add(len(chunk))
    size = _size(part)
    if stream.total is not None and size != stream.total:
        if size > stream.total:
            part.unlink()
        raise TemporaryError(f"the connection ended after {readable(size)} of {readable(stream.total)}")


def _read(stream: Stream) -> bytes:
    try:
        # Returns the available bytes: waiting for a full chunk would lose it if the connection broke.
        return stream.body.read1(CHUNK)
    except (OSError, HTTPException) as error:
        raise TemporaryError(f"the connection broke: {error}") from error


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        while chunk := stream.read(CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
