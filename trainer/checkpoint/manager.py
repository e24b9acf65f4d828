"""The checkpoints of one run: resuming, saving in the background, retention."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import torch
from torch import Tensor

from ..config import TrainerConfig
from ..errors import CheckpointError
from ..parallel import Strategy
from ..runtime.distributed import World
from ..runtime.log import log, log_rank
from ..train_state import TrainState
from . import catalog, directory, tensors
from .background import BackgroundSave
from .compatibility import check_compatible, check_position
from .contents import write_contents
from .lock import Lock
from .manifest import InvalidCheckpointError
from .metrics import CheckpointMetrics
from .peers import Peers
from .publish import publish
from .retention import move_aside_newer_than, move_newest_aside, prune, prune_set_aside
from .staging import Stager
from .state import CheckpointState

# The kernel closes the connections of a process that ends, and releases its locks.
_RANK_ZERO_ENDS_SECONDS = 1.0


class CheckpointManager:
    """Saves and loads the checkpoints of a run. All methods are collectives. `metrics` are of this rank's saves.

    Checkpoints have their own process group, so that their collectives never mix with those of training. `on_read` is
    called after each part of a checkpoint that this rank has read. `fingerprint` identifies the data, of which an epoch
    has `samples` samples.
    """

    def __init__(
        self,
        config: TrainerConfig,
        world: World,
        strategy: Strategy,
        fingerprint: str,
        samples: int,
        on_read: Callable[[], None] = lambda: None,
    ) -> None:
        self.metrics = CheckpointMetrics()
        self._config = config
        self._world = world
        self._strategy = strategy
        self._fingerprint = fingerprint
        self._samples = samples
        self._peers = Peers(world.cpu_group(), on_read)
        self._lock = Lock(world.rendezvous_id)
        self._stager = Stager(world.device, self._peers)
        self._running_save: BackgroundSave | None = None
        self._failure: CheckpointError | None = None

    def resume(self) -> TrainState | None:
        """Opens the directory for this run and restores the newest valid checkpoint.

        Without a checkpoint, weights and optimizer stay as they are.

        Returns:
            The training state of the checkpoint; None without one.

        Raises:
            CheckpointError: The directory is not writable, is used by another run or differs between ranks; the
                checkpoint is incompatible with this configuration or was written by another program; or there are
                checkpoints and none is valid.
        """
        folder = self._config.checkpoint_dir
        launch = self._world.launch
        directory.open_directory(
            folder,
            self._lock,
            self._peers,
            # The other ranks wait for no longer than `timeout_seconds`.
            lease_seconds=min(directory.LEASE_SECONDS, self._config.timeout_seconds / 2),
            takeover_seconds=self._config.timeout_seconds / 2 if launch.takes_over else 0.0,
            owner_before=launch.rendezvous_before,
        )
        found = self._restore_newest(folder)
        step = found.train_state.step if found else -1
        aside = self._peers.on_rank_zero(lambda: move_aside_newer_than(folder, step, afresh=self._config.start_afresh))
        if found is None:
            log(f"starting fresh: no {'other checkpoint' if aside else 'checkpoint'} in {folder}")
            return None
        self.metrics.newest_step, self.metrics.newest_time = step, time.time()
        return found.train_state

    def reject(self, step: int) -> Path | None:
        """Sets the checkpoint of `step` aside, so that the next start resumes an earlier one.

        Returns:
            The checkpoint; None if it is not the newest one, or if there is no earlier one.
        """
        self._wait_for_save()
        return self._peers.on_rank_zero(lambda: move_newest_aside(self._config.checkpoint_dir, step))

    def is_idle(self, *, within: float) -> bool:
        """Waits for the end of this rank's running save for so many seconds; returns true if none is left.

        Not a collective.
        """
        with self._count_stall():
            return self._running_save is None or self._running_save.has_ended(within=within)

    def save(self, train_state: TrainState) -> None:
        """Saves the current state, in the background if `async_checkpoints` is set. Waits for the previous save first.

        A failed save is logged and counted but does not end the run: the next save tries again. A step that is already
        saved is not saved again.

        Raises:
            CheckpointError: These ranks went on without the first node, and now that one goes on without them.
        """
        with self._count_stall():
            self._wait_for_save()
            if train_state.step == self.metrics.newest_step:
                return
            if self._world.launch.takes_over:
                self._peers.on_rank_zero(self._check_owner)
            self._start_save(train_state)
            if not self._config.async_checkpoints:
                self._wait_for_save()

    def save_alone(self, train_state: TrainState, *, replaces_first: bool = False) -> None:
        """Saves the state of this replica after its peers are lost, in any thread. Not a collective.

        Rank 0 holds the lock of the directory. Another rank gets it only if rank 0 has ended. A failure is logged. A
        save in the background that the loss has interrupted does no harm: both only read the tensors.

        Args:
            train_state: What the weights belong to.
            replaces_first: The first node is lost, and this rank becomes rank 0. It saves although a paused rank 0 has
                the lock.
        """
        newest = self.metrics.newest_step or 0
        if self._world.size == 1 or not self._strategy.is_replica or train_state.step <= newest:
            return
        path = catalog.checkpoint_path(self._config.checkpoint_dir, train_state.step)
        alone = Peers()
        try:
            if self._world.rank and not self._get_lock(path.parent, replaces_first=replaces_first):
                return
            state = self._checkpoint_state(train_state)
            staged = Stager(self._world.device, alone).stage(self._strategy.state_dict())
            publish(path, lambda folder: write_contents(folder, state, staged, alone), alone)
        except CheckpointError as reason:
            log_rank(f"checkpoint not saved after the loss of a peer: step={train_state.step} {reason}")
        else:
            log_rank(f"lost its peers and saved alone: step={train_state.step} path={path}")

    def wait_for_staging(self) -> None:
        """Waits until the running save has copied the weights. Call it before they change."""
        if self._running_save is not None:
            with self._count_stall():
                self._stager.wait()
                self._running_save.check()

    def wait(self, *, required: bool = False) -> None:
        """Waits until the running save is durable or has failed.

        Raises:
            CheckpointError: The last save failed, and `required` is set.
        """
        with self._count_stall():
            self._wait_for_save()
        if required and self._failure is not None:
            raise self._failure

    def close(self) -> None:
        """Releases the directory, for a process that continues without this run."""
        self._wait_for_save()
        self._lock.release()

    def _get_lock(self, folder: Path, *, replaces_first: bool) -> bool:
        seconds = 0.0 if replaces_first else _RANK_ZERO_ENDS_SECONDS
        return self._lock.acquire_within(seconds, folder) or (replaces_first and self._lock.is_owned(folder))

    def _check_owner(self) -> None:
        if not self._lock.is_owned(self._config.checkpoint_dir):
            raise CheckpointError(
                f"the first node is back, and saves to {self._config.checkpoint_dir}: this node ends, and joins it"
            )

    def _start_save(self, train_state: TrainState) -> None:
        current = self._state_to_save()
        state = self._checkpoint_state(train_state)
        self._failure = None
        self._stager.begin()
        self._running_save = BackgroundSave(lambda: self._save(state, current))

    def _checkpoint_state(self, train_state: TrainState) -> CheckpointState:
        return CheckpointState(
            train_state=train_state,
            config=self._config.as_json(),
            fingerprint=self._fingerprint,
            extras=self._strategy.extras(),
            torch=torch.__version__,
        )

    def _state_to_save(self) -> dict[str, Tensor]:
        state = self._strategy.state_dict()
        if self._strategy.state_is_copied:
            return state
        # The next forward changes buffers, such as batch norm averages, without waiting for the copies.
        volatile = {tensors.MODEL + name for name, _ in self._strategy.model.named_buffers()}
        return {name: tensor.clone() if name in volatile else tensor for name, tensor in state.items()}

    def _wait_for_save(self) -> None:
        save, self._running_save = self._running_save, None
        if save is not None:
            save.wait()

    def _save(self, state: CheckpointState, current: dict[str, Tensor]) -> None:
        began = time.monotonic()
        train_state = state.train_state
        path = catalog.checkpoint_path(self._config.checkpoint_dir, train_state.step)
        try:
            staged = self._stager.stage(current, copied=self._strategy.state_is_copied)
            publish(path, lambda folder: write_contents(folder, state, staged, self._peers), self._peers)
        except CheckpointError as reason:
            self._failure = CheckpointError(f"cannot write checkpoint {path}: {reason}")
            self.metrics.failed += 1
            log(f"checkpoint not saved: step={train_state.step} {reason}")
        else:
            self.metrics.newest_step, self.metrics.newest_time = train_state.step, time.time()
            self.metrics.saved += 1
            log(f"checkpoint saved: epoch={train_state.epoch} step={train_state.step} path={path}")
            if self._peers.rank == 0:
                prune(path.parent, newest=self._config.keep_checkpoints, every=self._config.keep_every)
                prune_set_aside(path.parent, newest=self._config.keep_checkpoints)
        finally:
            self.metrics.save_seconds += time.monotonic() - began

    def _restore_newest(self, folder: Path) -> CheckpointState | None:
        """Restores the newest checkpoint that can be; a later attempt overwrites all that a failed one has read."""
        for path, state in catalog.valid_checkpoints(folder, self._peers, skip_unreadable=self._config.start_afresh):
            try:
                check_compatible(path, state, self._config, self._fingerprint)
                check_position(state, self._samples)
                self._restore(path, state)
            except InvalidCheckpointError as reason:
                log(f"skipped invalid checkpoint {path}: {reason}")
            else:
                return state
        return None

    def _restore(self, path: Path, state: CheckpointState) -> None:
        current = self._strategy.state_dict()
        tensors.read_tensors(path, current, self._peers)
        self._load(current, state)
        log(f"resumed: epoch={state.train_state.epoch} step={state.train_state.step} path={path}")

    def _load(self, current: dict[str, Tensor], state: CheckpointState) -> None:
        self._strategy.load_state_dict(current)
        try:
            self._strategy.load_extras(state.extras)
        # All ranks fail alike, since `extras` is the same file.
        except (TypeError, ValueError, LookupError) as error:
            raise InvalidCheckpointError(f"state.json does not hold the state of the strategy: {error!r}") from error

    @contextmanager
    def _count_stall(self) -> Iterator[None]:
        began = time.monotonic()
        try:
            yield
        finally:
            self.metrics.stall_seconds += time.monotonic() - began
