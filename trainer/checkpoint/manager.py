"""The checkpoints of one run: resume, save, keep the newest."""

import shutil
from pathlib import Path

from trainer.checkpoint.catalogue import newest_valid, path_of, published
from trainer.checkpoint.lock import lock
from trainer.checkpoint.publish import TEMPORARY_PREFIX, publish
from trainer.checkpoint.state import Checkpoint, writers
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError
from trainer.runtime.distributed import World
from trainer.runtime.log import log

# Fields that a resumed run must share with the run that it continues: the test samples of another seed were trained on,
# and weights of another size do not fit. The others may change on resume.
_FIXED_FIELDS = ("seed", "hidden_size")
_ASIDE_PREFIX = ".invalid-"


class CheckpointManager:
    """Rank 0 alone touches the directory; the other ranks get what it found. Both methods are collectives.

    So only rank 0 needs the volume, and no two ranks can disagree on which checkpoint is the newest.
    """

    def __init__(self, config: TrainerConfig, world: World) -> None:
        self._config = config
        self._world = world

    def resume(self) -> Checkpoint | None:
        """Takes the directory for this run and returns its newest valid checkpoint, on every rank.

        Raises:
            CheckpointError: The directory is not writable, is another run's, or the checkpoint is of a run that this
                configuration cannot continue.
        """
        return self._world.from_rank_zero(self._resume)

    def save(self, checkpoint: Checkpoint) -> None:
        """Publishes `checkpoint`, then removes all but the newest `keep_checkpoints`.

        Raises:
            CheckpointError: It could not be written; those published before are untouched.
        """
        self._world.from_rank_zero(lambda: self._save(checkpoint))

    def _resume(self) -> Checkpoint | None:
        directory = self._config.checkpoint_dir
        if lock(directory):
            _remove_leftovers(directory)
        found = newest_valid(directory)
        if found is not None:
            self._check_fixed_fields(*found)
        _move_aside_all_newer_than(directory, found[1].epoch if found else 0)
        if found is None:
            log(f"starting fresh: no checkpoint in {directory}")
            return None
        path, checkpoint = found
        log(f"resumed: epoch={checkpoint.epoch} path={path}")
        return checkpoint

    def _save(self, checkpoint: Checkpoint) -> None:
        path = path_of(self._config.checkpoint_dir, checkpoint.epoch)
        publish(path, writers(checkpoint))
        log(f"checkpoint saved: epoch={checkpoint.epoch} path={path}")
        for _, old in published(self._config.checkpoint_dir)[self._config.keep_checkpoints :]:
            _remove(old)

    def _check_fixed_fields(self, path: Path, checkpoint: Checkpoint) -> None:
        wanted = self._config.as_json()
        for name in _FIXED_FIELDS:
            if (had := checkpoint.config.get(name)) != wanted[name]:
                option = "--" + name.replace("_", "-")
                raise CheckpointError(
                    f"checkpoint {path} was trained with {option} {had} and this run has {option} {wanted[name]}: "
                    f"write {option} {had} to continue it, or another --checkpoint-dir to start afresh"
                )


def _remove_leftovers(directory: Path) -> None:
    # The lock is held, so every temporary directory is of a writer that has died.
    for path in directory.glob(f"{TEMPORARY_PREFIX}*"):
        _remove(path)


def _move_aside_all_newer_than(directory: Path, epoch: int) -> None:
    # They are invalid, and the run is about to publish under their names. Kept for whoever looks for the cause.
    for newer, path in published(directory):
        if newer <= epoch:
            return
        try:
            path.rename(_unused(path.with_name(_ASIDE_PREFIX + path.name)))
        except OSError as error:
            raise CheckpointError(f"cannot move invalid checkpoint {path} aside: {error.strerror}") from error


def _unused(path: Path) -> Path:
    candidate, number = path, 1
    while candidate.exists():
        number += 1
        candidate = path.with_name(f"{path.name}-{number}")
    return candidate


def _remove(path: Path) -> None:
    # A leftover that cannot be removed costs space; ending the run for it would cost the run.
    try:
        shutil.rmtree(path)
    except OSError as error:
        log(f"cannot remove {path}: {error.strerror}")
