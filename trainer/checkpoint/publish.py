"""Atomic publication of a folder that all ranks write.

A folder under its published name is complete: its files and its manifest were durable before the rename. A reader finds
either the whole folder or nothing, whenever a crash happens. The digests in the manifest detect later damage.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from ..errors import CheckpointError
from . import manifest
from .files import Entry, sync_directory
from .peers import Peers

TEMPORARY_PREFIX = ".tmp-"


def publish(path: Path, write: Callable[[Path], Mapping[str, Entry]], peers: Peers) -> None:
    """Creates folder `path` with the files that `write` writes to the temporary folder passed to it. Collective.

    `write` is called on every rank and returns the files of that rank.

    Raises:
        CheckpointError: `path` exists, or a rank could not write (disk full, read-only, ...). The message is the reason
            alone. The attempt leaves nothing behind and changes no existing file.
    """
    temporary = path.with_name(peers.on_rank_zero(lambda: temporary_path(path).name))
    try:
        peers.on_rank_zero(lambda: _create(path, temporary))
        written = write(temporary)
        entries = peers.on_all_ranks(lambda: _synced(temporary, written))
        peers.on_rank_zero(
            lambda: _seal(path, temporary, {name: entry for of in entries for name, entry in of.items()})
        )
    except CheckpointError:
        # All ranks raise CheckpointError together, so none is still writing.
        if peers.rank == 0:
            shutil.rmtree(temporary, ignore_errors=True)
        raise


def temporary_path(path: Path) -> Path:
    """Returns an unused name beside `path`.

    Host name and process ID would not be unique: both repeat when a container restarts, and the name may still exist.
    """
    return path.with_name(f"{TEMPORARY_PREFIX}{path.name}-{uuid.uuid4().hex}")


def _create(path: Path, temporary: Path) -> None:
    if path.exists():  # rename would silently replace an empty directory
        raise CheckpointError("it exists and is never overwritten")
    temporary.mkdir()


def _synced(temporary: Path, written: Mapping[str, Entry]) -> Mapping[str, Entry]:
    # On every rank: on some file systems a node makes only the names durable that it created itself.
    sync_directory(temporary)
    return written


def _seal(path: Path, temporary: Path, entries: Mapping[str, Entry]) -> None:
    manifest.write_manifest(temporary, entries)
    sync_directory(temporary)
    temporary.rename(path)
    sync_directory(path.parent)
