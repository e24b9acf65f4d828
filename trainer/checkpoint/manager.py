"""The checkpoints of one run: resume, save while training goes on, keep the newest."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from trainer.checkpoint import catalogue, directory, rng, tensors
from trainer.checkpoint.background import BackgroundSave
from trainer.checkpoint.contents import Contents
from trainer.checkpoint.figures import Figures
from trainer.checkpoint.lock import Lock
from trainer.checkpoint.peers import Peers
from trainer.checkpoint.publish import publish
from trainer.checkpoint.retention import move_aside_newer_than, prune
from trainer.checkpoint.same_run import check_same_run
from trainer.checkpoint.staging import Stager
from trainer.checkpoint.state import State
from trainer.config import TrainerConfig
from trainer.errors import CheckpointError
from trainer.progress import Progress
from trainer.runtime.distributed import World
from trainer.runtime.log import log

if TYPE_CHECKING:
    from trainer.parallel import Strategy


class CheckpointManager:
    """All ranks call the same methods in the same order. `figures` has what there is to know of this rank's saves.

    Saves and loads talk through a group of their own, so that they never mix with what carries gradients.
    """

    def __init__(self, config: TrainerConfig, world: World, strategy: "Strategy", fingerprint: str) -> None:
        self.figures = Figures()
        self._config = config
        self._world = world
        self._strategy = strategy
        self._fingerprint = fingerprint
        self._peers = Peers(world.cpu_group())
        self._lock = Lock()
        self._stager = Stager(world.device)
        self._under_way: BackgroundSave | None = None
        self._failure: CheckpointError | None = None

    def resume(self) -> Progress | None:
        """Takes the directory for this run and goes back to where its newest valid checkpoint was saved.

        Weights, optimizer and random state are that checkpoint's, or without one a new run's.

        Raises:
            CheckpointError: The directory is not writable, is another run's, is not the same on all ranks, or the
                checkpoint is of a run that this configuration cannot continue.
        """
        folder = self._config.checkpoint_dir
        directory.take(folder, self._lock, self._peers)
        found = catalogue.newest_valid(folder, self._peers)
        if found:
            check_same_run(*found, self._config, self._fingerprint)
        newest = found[1].progress.step if found else -1
        self._peers.first(lambda: move_aside_newer_than(folder, newest))
        if found is None:
            self._seed(step=0)
            log(f"starting fresh: no checkpoint in {folder}")
            return None
        path, state = found
        log(f"resumed: epoch={state.progress.epoch} step={state.progress.step} path={path}")
        self._restore(path, state)
        self.figures.newest_step, self.figures.newest_time = state.progress.step, time.time()
        return state.progress

    def save(self, progress: Progress) -> None:
        """Saves what is trained until now, in the background if `async_checkpoints`; `progress` says how far that is.

        Waits for the save before this one. A save that fails is named in the log and counted, and does not end the run:
        the next one tries again. A step that is already saved is not saved again.
        """
        with self._stall():
            self._settle()
            if progress.step == self.figures.newest_step:
                return
            self._begin(progress)
            if not self._config.async_checkpoints:
                self._settle()

    def before_update(self) -> None:
        """To be called before the weights change: waits until a save under way has copied them."""
        if self._under_way is not None:
            with self._stall():
                self._stager.wait()
                self._under_way.check()

    def wait(self, *, required: bool = False) -> None:
        """Waits for the save under way, until it is durable or has failed.

        Raises:
            CheckpointError: With `required`, the last save failed.
        """
        with self._stall():
            self._settle()
        if required and self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Gives the directory back, for a process that goes on without this run."""
        self._settle()
        self._lock.release()

    def _begin(self, progress: Progress) -> None:
        state = self._state_to_save()
        contents = Contents(
            state=State(
                progress=progress,
                config=self._config.as_json(),
                fingerprint=self._fingerprint,
                world_size=self._world.size,
                parts=self._strategy.share.size,
                extras=self._strategy.extras(),
                torch=torch.__version__,
            ),
            random=rng.capture(self._world.device),
            tensors=state,
        )
        self._failure = None
        self._stager.begin()
        self._under_way = BackgroundSave(lambda: self._save(contents))

    def _state_to_save(self) -> dict[str, Tensor]:
        state = self._strategy.state()
        # The next forward changes these, such as the averages of a normalisation, and nothing waits for it.
        volatile = {tensors.MODEL + name for name, _ in self._strategy.model.named_buffers()}
        return {name: tensor.clone() if name in volatile else tensor for name, tensor in state.items()}

    def _settle(self) -> None:
        save, self._under_way = self._under_way, None
        if save is not None:
            save.wait()

    def _save(self, contents: Contents) -> None:
        began = time.monotonic()
        progress = contents.state.progress
        path = catalogue.path_of(self._config.checkpoint_dir, progress.step)
        try:
            self._peers.each(lambda: self._stager.copy(contents.tensors))
            publish(path, lambda folder: contents.write(folder, self._stager.copies, self._peers), self._peers)
        except CheckpointError as reason:
            self._failure = CheckpointError(f"cannot write checkpoint {path}: {reason}")
            self.figures.failed += 1
            log(f"checkpoint not saved: step={progress.step} {reason}")
        else:
            self.figures.newest_step, self.figures.newest_time = progress.step, time.time()
            self.figures.saved += 1
            log(f"checkpoint saved: epoch={progress.epoch} step={progress.step} path={path}")
            if self._peers.rank == 0:
                prune(path.parent, newest=self._config.keep_checkpoints, every=self._config.keep_every)
        finally:
            self.figures.save_seconds += time.monotonic() - began

    def _restore(self, path: Path, state: State) -> None:
        current = self._strategy.state()
        tensors.read(path, current, self._peers)
        self._strategy.load(current)
        self._strategy.load_extras(state.extras)
        # Also before it is restored: a checkpoint of a CPU has no state for a GPU.
        self._seed(step=state.progress.step)
        parts = self._strategy.share.size
        if state.world_size != self._world.size:
            log(f"random state drawn anew: checkpoint has {state.world_size} ranks, this run {self._world.size}")
        elif state.parts != parts:
            log(f"random state drawn anew: checkpoint has batches in {state.parts} parts, this run in {parts}")
        else:
            self._restore_random(path)

    def _restore_random(self, path: Path) -> None:
        try:
            self._peers.each(lambda: rng.restore(path / rng.file_name(self._peers.rank), self._world.device))
        except CheckpointError as reason:
            raise CheckpointError(f"cannot read checkpoint {path}: {reason}") from reason

    def _seed(self, *, step: int) -> None:
        rng.seed_rank(self._config.seed, step, self._strategy.share.rank)

    @contextmanager
    def _stall(self) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.figures.stall_seconds += time.monotonic() - began
