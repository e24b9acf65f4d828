"""The checkpoints in a directory: their names, their order and their validity."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import CheckpointError
from ..runtime.log import log
from . import contents, manifest
from .manifest import InvalidCheckpointError, UnreadableCheckpointError
from .peers import Peers
from .state import CheckpointState

_NAME = re.compile(r"step-(\d{8}|[1-9]\d{8,})")


def checkpoint_path(directory: Path, step: int) -> Path:
    """Returns the path of the checkpoint of `step`: `step-00000135` in `directory`."""
    return directory / f"step-{step:08d}"


def list_checkpoints(directory: Path) -> list[tuple[int, Path]]:
    """Returns steps and paths of the published checkpoints, newest first, valid or not.

    A directory that does not exist has none.

    Raises:
        CheckpointError: The directory cannot be listed.
    """
    try:
        names = [(match, path) for path in directory.iterdir() if (match := _NAME.fullmatch(path.name))]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise CheckpointError(f"cannot list checkpoint directory {directory}: {error.strerror}") from error
    return sorted(((int(match[1]), path) for match, path in names), reverse=True)


def valid_checkpoints(
    directory: Path, peers: Peers, *, skip_unreadable: bool = False
) -> Iterator[tuple[Path, CheckpointState]]:
    """Yields the checkpoints that pass verification, newest first. Logs each other one with the reason.

    Collective: the ranks share the reading and agree on the result.

    Raises:
        CheckpointError: The directory cannot be listed, or a checkpoint was written by another program and
            `skip_unreadable` is not set.
    """
    for step in peers.on_rank_zero(lambda: [number for number, _ in list_checkpoints(directory)]):
        path = checkpoint_path(directory, step)
        try:
            manifest.verify_files(path, peers)
            state = peers.on_rank_zero(lambda: contents.check_contents(path, step))  # noqa: B023 - called at once
        except InvalidCheckpointError as reason:
            log(f"skipped invalid checkpoint {path}: {reason}")
        except UnreadableCheckpointError as reason:
            if not skip_unreadable:
                raise CheckpointError(
                    f"cannot read checkpoint {path}: {reason}; nothing was changed. Continue with the program that "
                    "wrote it, or write another --checkpoint-dir"
                ) from reason
            log(f"skipped unreadable checkpoint {path}: {reason}")
        else:
            yield path, state


def require_newest_valid(directory: Path) -> tuple[Path, CheckpointState]:
    """Returns the newest checkpoint that passes verification, for commands outside of a run.

    Raises:
        CheckpointError: No checkpoint is valid, or the directory cannot be listed.
    """
    found = next(valid_checkpoints(directory, Peers()), None)
    if found is None:
        raise CheckpointError(f"no valid checkpoint in {directory}: write the --checkpoint-dir of a run")
    return found
