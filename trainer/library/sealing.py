"""Checkpoint folders that another library writes: sealed by a manifest with the digest of each file."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from ..checkpoint import manifest
from ..checkpoint.files import Entry, sync_directory
from ..checkpoint.manifest import InvalidCheckpointError, UnreadableCheckpointError
from ..errors import CheckpointError
from ..runtime.log import log
from .group import peers

_NUMBER = re.compile(r"\D*(\d+)\D*")


def seal(folder: str | Path) -> None:
    """Makes all files in `folder` durable, and lists their sizes and digests in its `manifest.json`.

    Call it on one rank, after all ranks have written. A folder without a manifest was not written to its end.

    Raises:
        OSError: A file cannot be read, or the manifest cannot be written.
    """
    place = Path(folder)
    final, temporary = place / manifest.NAME, place / f".{manifest.NAME}"
    # Left by a crash in an earlier call; in the list it would be missing afterwards.
    temporary.unlink(missing_ok=True)
    paths = sorted(place.rglob("*"))
    entries = {str(path.relative_to(place)): _durable(path) for path in paths if path.is_file() and path != final}
    for inner in (place, *(path for path in paths if path.is_dir())):
        sync_directory(inner)
    manifest.write_manifest(place, entries, temporary.name)
    temporary.replace(final)
    sync_directory(place)
    sync_directory(place.parent)


def newest_sealed(folder: str | Path, pattern: str = "checkpoint-*") -> str | None:
    """Returns the path of the newest sealed checkpoint in `folder` of which no byte has changed.

    Each one that is not sealed or has changed is logged and left alone. The ranks share the reading. Collective, if
    the script has a process group.

    Args:
        folder: The folder of the checkpoints.
        pattern: Their names. The number in a name is its order, such as 500 of `checkpoint-500`.

    Returns:
        The path; None if no checkpoint in the folder was sealed.

    Raises:
        CheckpointError: All sealed checkpoints have changed, or the newest of them cannot be read.
    """
    ranks = peers()
    damaged = 0
    for path, is_sealed in ranks.on_rank_zero(lambda: _newest_first(Path(folder), pattern)):
        if not is_sealed:
            log(f"skipped checkpoint {path}: cannot read {manifest.NAME}: the run ended before it was sealed")
            continue
        try:
            manifest.verify_files(path, ranks)
        except InvalidCheckpointError as reason:
            log(f"skipped checkpoint {path}: {reason}")
            damaged += 1
        except UnreadableCheckpointError as reason:
            raise CheckpointError(f"cannot read checkpoint {path}: {reason}; nothing was changed") from reason
        else:
            log(f"resuming from {path}")
            return str(path)
    if damaged:
        # A run that trained from step 0 would write over what may still be of use.
        raise CheckpointError(
            f"none of the {damaged} sealed checkpoints in {folder} is valid, as stated above; nothing was changed. "
            "Restore one, or move them to another folder to train from step 0"
        )
    return None


def _newest_first(folder: Path, pattern: str) -> list[tuple[Path, bool]]:
    """Returns the checkpoints, each with true if it is sealed."""
    found = [(int(match[1]), path) for path in folder.glob(pattern) if (match := _NUMBER.fullmatch(path.name))]
    return [(path, _is_sealed(path)) for _, path in sorted(found, reverse=True) if path.is_dir()]


def _is_sealed(path: Path) -> bool:
    """Returns true if the checkpoint has a manifest, even one that cannot be read.

    What else is in the folder is for the library that writes it: some write the `.metadata` of PyTorch.
    """
    try:
        (path / manifest.NAME).lstat()
    except FileNotFoundError:
        return False
    return True


def _durable(path: Path) -> Entry:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256").hexdigest()
        os.fsync(stream.fileno())
        return Entry(bytes=stream.tell(), sha256=digest)
