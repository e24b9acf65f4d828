"""Removal of old checkpoints and leftovers. Only the rank that holds the lock does this."""

from __future__ import annotations

import shutil
from pathlib import Path

from ..errors import CheckpointError
from ..runtime.log import log
from .catalog import list_checkpoints
from .publish import TEMPORARY_PREFIX, temporary_path

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


def prune_set_aside(directory: Path, *, newest: int) -> None:
    """Removes all checkpoints that were set aside, except the `newest` ones by their steps. Logs failures."""
    try:
        aside = sorted(directory.glob(f"{_ASIDE_PREFIX}*"), key=_aside_order, reverse=True)
    except OSError as error:
        log(f"cannot list {directory}: {error.strerror}")
        return
    for path in aside[newest:]:
        _remove(path)


def move_aside_newer_than(directory: Path, step: int, *, afresh: bool) -> int:
    """Renames the checkpoints after `step`, which are invalid, because the run will publish under their names.

    They are kept for later investigation.

    Args:
        directory: The checkpoint directory.
        step: The step of the newest valid checkpoint; -1 if there is none.
        afresh: If true, the run may start again at step 0 although there are checkpoints.

    Returns:
        The number of renamed checkpoints.

    Raises:
        CheckpointError: One cannot be renamed; or none is valid, and `afresh` is not set.
    """
    newer = [path for number, path in list_checkpoints(directory) if number > step]
    if newer and step < 0 and not afresh:
        raise CheckpointError(
            f"none of the {len(newer)} checkpoints in {directory} is valid, as stated above; nothing was changed. "
            "Restore one, write another --checkpoint-dir, or write --start-afresh to set them aside and train from "
            "step 0"
        )
    for path in newer:
        _move_aside(path)
    return len(newer)


def move_newest_aside(directory: Path, step: int) -> Path | None:
    """Renames the checkpoint of `step` if it is the newest one and there is an earlier one, and returns its old path.

    Raises:
        CheckpointError: It cannot be renamed.
    """
    found = list_checkpoints(directory)
    if len(found) < 2 or found[0][0] != step:
        return None
    _move_aside(found[0][1])
    return found[0][1]


def _move_aside(path: Path) -> None:
    try:
        path.rename(_unused(path.with_name(_ASIDE_PREFIX + path.name)))
    except OSError as error:
        raise CheckpointError(f"cannot move invalid checkpoint {path} aside: {error.strerror}") from error


def _aside_order(path: Path) -> tuple[int, ...]:
    """Returns the step, and the number that `_unused` has added to the name."""
    return tuple(int(part) for part in path.name.removeprefix(_ASIDE_PREFIX).split("-") if part.isdecimal())


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
