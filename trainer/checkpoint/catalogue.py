"""The checkpoints in a directory: names, order and which of them can be used."""

import re
from pathlib import Path

from trainer.checkpoint.publish import InvalidCheckpointError
from trainer.checkpoint.state import Checkpoint, read
from trainer.errors import CheckpointError
from trainer.runtime.log import log

_NAME = re.compile(r"epoch-(\d{4,})")


def path_of(directory: Path, epoch: int) -> Path:
    """Where the checkpoint of `epoch` is published: `epoch-0003` in `directory`."""
    return directory / f"epoch-{epoch:04d}"


def published(directory: Path) -> list[tuple[int, Path]]:
    """Epochs and paths of the published checkpoints, newest first, valid or not; none where no directory is.

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


def newest_valid(directory: Path) -> tuple[Path, Checkpoint] | None:
    """The newest checkpoint that verifies. Each newer one is named in the log with the reason why it was skipped.

    Raises:
        CheckpointError: The directory cannot be listed.
    """
    for epoch, path in published(directory):
        try:
            checkpoint = read(path, epoch)
        except InvalidCheckpointError as reason:
            log(f"skipped invalid checkpoint {path}: {reason}")
        else:
            return path, checkpoint
    return None
