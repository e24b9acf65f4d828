"""Removal of old checkpoints and leftovers. Only the rank that holds the lock does this."""

from __future__ import annotations

import shutil
from pathlib import Path

from trainer.checkpoint.catalog import list_checkpoints
from trainer.checkpoint.publish import TEMPORARY_PREFIX, temporary_path
from trainer.errors import CheckpointError
from trainer.runtime.log import log

_ASIDE_PREFIX = ".invalid-"


def prune(directory: Path, *, newest: int, every: int) -> None:
    """Removes all checkpoints except the `newest` ones and those whose step is a multiple of `every` (0: none).

    A checkpoint that cannot be removed is logged: it costs space, but is no reason to end the run.
    """
    try:
        old = list_checkpoints(directory)[newest:]
    except CheckpointError as error:
        log(str(error))
        return
    for step, path in old:
        if not every or step % every:
            _remove_whole(path)


def remove_leftovers(directory: Path) -> None:
    """Removes temporary folders. The lock holder is the only live writer, so every temporary folder is stale."""
    for path in directory.glob(f"{TEMPORARY_PREFIX}*"):
        _remove(path)


def move_aside_newer_than(directory: Path, step: int) -> None:
    """Renames the checkpoints after `step`, which are invalid, because the run will publish under their names.

    They are kept for later investigation.

    Raises:
        CheckpointError: One cannot be renamed.
    """
    for newer, path in list_checkpoints(directory):
        if newer <= step:
            return
        try:
            path.rename(_unused(path.with_name(_ASIDE_PREFIX + path.name)))
        except OSError as error:
            raise CheckpointError(f"cannot move invalid checkpoint {path} aside: {error.strerror}") from error


def _remove_whole(path: Path) -> None:
    # Renamed first, so that a crash never leaves half a checkpoint under its published name.
    temporary = temporary_path(path)
    try:
        path.rename(temporary)
    except OSError as error:
        log(f"cannot remove {path}: {error.strerror}")
    else:
        _remove(temporary)


def _remove(path: Path) -> None:
    try:
        shutil.rmtree(path)
    except OSError as error:
        log(f"cannot remove {path}: {error.strerror}")


def _unused(path: Path) -> Path:
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate
