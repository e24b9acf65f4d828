"""Atomic publication of a folder of files that all ranks write.

A folder that carries the published name was written completely: its files and its manifest reached the disk before the
rename that gave it the name. Whatever the moment of a crash, a reader finds either all of it or nothing. The manifest's
digests catch what happens to it afterwards.
"""

import shutil
import uuid
from collections.abc import Callable, Mapping
from pathlib import Path

from trainer.checkpoint import manifest
from trainer.checkpoint.files import Entry, sync_directory
from trainer.checkpoint.peers import Peers
from trainer.errors import CheckpointError

TEMPORARY_PREFIX = ".tmp-"


def publish(path: Path, write: Callable[[Path], Mapping[str, Entry]], peers: Peers) -> None:
    """Creates folder `path` with the files that `write` writes into the folder that it is given. Collective.

    `write` is called on every rank and returns what that rank has written.

    Raises:
        CheckpointError: `path` exists, or the file system of a rank refused (full, read-only, ...). The message is the
            reason alone. Nothing of the attempt is left, and nothing that was there before is touched.
    """
    temporary = path.with_name(peers.first(lambda: temporary_for(path).name))
    try:
        peers.first(lambda: _create(path, temporary))
        written = write(temporary)
        entries = peers.each(lambda: _synced(temporary, written))
        peers.first(lambda: _seal(path, temporary, {name: entry for of in entries for name, entry in of.items()}))
    except CheckpointError:
        # All ranks are here, so that none is still writing.
        if peers.rank == 0:
            shutil.rmtree(temporary, ignore_errors=True)
        raise


def temporary_for(path: Path) -> Path:
    """A name beside `path` that nobody has used.

    Not that of a host or process: both are the same again when a container restarts, and a name that its predecessor
    left behind could not be created.
    """
    return path.with_name(f"{TEMPORARY_PREFIX}{path.name}-{uuid.uuid4().hex}")


def _create(path: Path, temporary: Path) -> None:
    if path.exists():  # rename would replace an empty directory without a word
        raise CheckpointError("it exists and is never overwritten")
    temporary.mkdir()


def _synced(temporary: Path, written: Mapping[str, Entry]) -> Mapping[str, Entry]:
    # By each rank: on some file systems a node makes only those names durable that it has created.
    sync_directory(temporary)
    return written


def _seal(path: Path, temporary: Path, entries: Mapping[str, Entry]) -> None:
    manifest.write(temporary, entries)
    sync_directory(temporary)
    temporary.rename(path)
    sync_directory(path.parent)
