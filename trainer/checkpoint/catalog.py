"""The checkpoints in a directory: names, order and which of them can be used."""

import re
from pathlib import Path

from trainer.checkpoint import contents, manifest
from trainer.checkpoint.manifest import InvalidCheckpointError
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.state import State
from trainer.errors import CheckpointError
from trainer.runtime.log import log

_NAME = re.compile(r"step-(\d{8}|[1-9]\d{8,})")


def path_of(directory: Path, step: int) -> Path:
    """Where the checkpoint of `step` is published: `step-00000135` in `directory`."""
    return directory / f"step-{step:08d}"


def published(directory: Path) -> list[tuple[int, Path]]:
    """Steps and paths of the published checkpoints, newest first, valid or not; none where no directory is.

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


def newest_valid(directory: Path, peers: Peers) -> tuple[Path, State] | None:
    """The newest checkpoint that verifies. Each newer one is named in the log with the reason why it was skipped.

    Collective: the ranks share the reading, and all find the same.

    Raises:
        CheckpointError: The directory cannot be listed.
    """
    for step in peers.first(lambda: [number for number, _ in published(directory)]):
        path = path_of(directory, step)
        try:
            manifest.verify(path, peers)
            state = peers.first(lambda: contents.check(path, step))  # noqa: B023  # called before the next is looked at
        except InvalidCheckpointError as reason:
            log(f"skipped invalid checkpoint {path}: {reason}")
        else:
            return path, state
    return None


def newest_in(directory: Path) -> tuple[Path, State]:
    """The newest checkpoint that verifies, for a program that is no run.

    Raises:
        CheckpointError: None is valid, or the directory cannot be listed.
    """
    found = newest_valid(directory, Peers())
    if found is None:
        raise CheckpointError(f"no valid checkpoint in {directory}: write the --checkpoint-dir of a run")
    return found
