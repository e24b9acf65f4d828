"""What is removed from a checkpoint directory, by the one rank that may."""

import shutil
from pathlib import Path

from trainer.checkpoint.catalogue import published
from trainer.checkpoint.publish import TEMPORARY_PREFIX, temporary_for
from trainer.errors import CheckpointError
from trainer.runtime.log import log

_ASIDE_PREFIX = ".invalid-"


def prune(directory: Path, *, newest: int, every: int) -> None:
    """Removes all checkpoints but the `newest` and those whose step is a multiple of `every`, unless that is 0.

    What cannot be removed costs space, and is named in the log; ending the run for it would cost the run.
    """
    try:
        old = published(directory)[newest:]
    except CheckpointError as error:
        log(str(error))
        return
    for step, path in old:
        if not every or step % every:
            _remove_whole(path)


def remove_leftovers(directory: Path) -> None:
    """Removes what a writer that has died left: for whoever holds the lock, every temporary name is such a one's."""
    for path in directory.glob(f"{TEMPORARY_PREFIX}*"):
        _remove(path)


def move_aside_newer_than(directory: Path, step: int) -> None:
    """Gives checkpoints after `step` another name. They are invalid, and the run is about to publish under their names.

    They are kept for whoever looks for the cause.

    Raises:
        CheckpointError: One cannot be renamed.
    """
    for newer, path in published(directory):
        if newer <= step:
            return
        try:
            path.rename(_unused(path.with_name(_ASIDE_PREFIX + path.name)))
        except OSError as error:
            raise CheckpointError(f"cannot move invalid checkpoint {path} aside: {error.strerror}") from error


def _remove_whole(path: Path) -> None:
    # Renamed first: whatever happens meanwhile, a checkpoint is there whole or not at all.
    temporary = temporary_for(path)
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
