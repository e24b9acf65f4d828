"""Verified checkpoints of a model and its optimizer, in the trainer's format."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import torch
from torch import Tensor, nn
from torch.distributed.checkpoint.state_dict import StateDictOptions, get_state_dict, set_state_dict
from torch.optim import Optimizer

from ..checkpoint import catalog, directory, tensors
from ..checkpoint.background import BackgroundSave
from ..checkpoint.contents import write_contents
from ..checkpoint.lock import Lock
from ..checkpoint.manifest import InvalidCheckpointError
from ..checkpoint.publish import publish
from ..checkpoint.retention import move_aside_newer_than, prune, prune_set_aside
from ..checkpoint.staging import Staged, Stager
from ..checkpoint.state import CheckpointState
from ..errors import CheckpointError
from ..runtime.log import log
from ..train_state import TrainState
from .group import peers

_OPTIONS = StateDictOptions(flatten_optimizer_state_dict=True)
_OPTIMIZER = "optimizer."
# The configuration of the trainer's own checkpoints has fields instead.
_WRITER = {"library": 1}


class Checkpoints:
    """The checkpoints of one script, in one directory that all ranks see. All methods are collectives.

    Each rank writes its own shards with torch.distributed.checkpoint, in the background. A checkpoint is published by a
    rename once every byte is durable and its digest is listed; `resume` verifies all of them. The model may be wrapped
    in DDP or sharded by `fully_shard`, and the number of ranks may change between starts. Random state is not saved: if
    a step draws random numbers, call `seed_step` before it.

    Args:
        folder: The directory; it is created. One run at a time may use it.
        model: The model.
        optimizer: Its optimizer.
        keep: The number of newest checkpoints to keep.
    """

    def __init__(self, folder: str | Path, model: nn.Module, optimizer: Optimizer, *, keep: int = 3) -> None:
        self._folder = Path(folder)
        self._model = model
        self._optimizer = optimizer
        self._keep = keep
        self._peers = peers()
        self._lock = Lock()
        self._stager = Stager(next(model.parameters()).device, self._peers)
        self._running: BackgroundSave | None = None

    def resume(self) -> dict[str, Any] | None:
        """Restores the newest valid checkpoint into the model and the optimizer.

        Returns:
            The `progress` that was passed to `save`; None if the directory has no checkpoint.

        Raises:
            CheckpointError: Another run or another program uses the directory, it is not writable, or none of its
                checkpoints is valid. Nothing was changed in it.
        """
        directory.open_directory(self._folder, self._lock, self._peers, lease_seconds=directory.LEASE_SECONDS)
        found = self._restore_newest()
        step = found.train_state.step if found else -1
        self._peers.on_rank_zero(lambda: move_aside_newer_than(self._folder, step, afresh=False))
        return dict(found.extras["progress"]) if found else None

    def save(self, step: int, progress: Mapping[str, Any]) -> None:
        """Saves the model, the optimizer and `progress` as the checkpoint of `step`.

        Each rank copies the tensors that it writes before this returns, and writes them in the background. A failed
        save is logged, and the next one tries again.

        Args:
            step: The number of steps done, above that of the last save.
            progress: All else that the script needs to continue, as values that JSON has.

        Raises:
            TypeError: JSON does not have such a value.
        """
        self.wait()
        tensors_now, rest = self._split_state()
        progress = json.loads(json.dumps(dict(progress)))
        state = CheckpointState(
            train_state=TrainState(step=step),
            config=_WRITER,
            fingerprint="",
            extras={"progress": progress, "optimizer": rest},
            torch=torch.__version__,
        )
        self._stager.begin()
        try:
            staged = self._stager.stage(tensors_now)
        except CheckpointError as reason:
            log(f"checkpoint not saved: step={step} {reason}")
            return
        self._running = BackgroundSave(lambda: self._publish(state, staged))

    def wait(self) -> None:
        """Waits until the last save is durable or has failed. Call it before the process ends."""
        running, self._running = self._running, None
        if running is not None:
            running.wait()

    def _publish(self, state: CheckpointState, staged: Staged) -> None:
        step = state.train_state.step
        path = catalog.checkpoint_path(self._folder, step)
        try:
            publish(path, lambda folder: write_contents(folder, state, staged, self._peers), self._peers)
        except CheckpointError as reason:
            log(f"checkpoint not saved: step={step} {reason}")
            return
        log(f"checkpoint saved: step={step} path={path}")
        if self._peers.rank == 0:
            prune(self._folder, newest=self._keep, every=0)
            prune_set_aside(self._folder, newest=self._keep)

    def _restore_newest(self) -> CheckpointState | None:
        for path, state in catalog.valid_checkpoints(self._folder, self._peers):
            if state.config != _WRITER:
                raise CheckpointError(
                    f"checkpoint {path} is of another program, such as `python -m trainer`: write another folder"
                )
            try:
                self._restore(path, state)
            except InvalidCheckpointError as reason:
                log(f"skipped invalid checkpoint {path}: {reason}")
            else:
                log(f"resumed: step={state.train_state.step} path={path}")
                return state
        return None

    def _restore(self, path: Path, state: CheckpointState) -> None:
        current, rest = self._split_state()
        tensors.read_tensors(path, current, self._peers)
        saved = state.extras.get("optimizer")
        if not isinstance(saved, dict) or not isinstance(state.extras.get("progress"), dict):
            raise InvalidCheckpointError("state.json holds no progress")
        set_state_dict(
            self._model,
            self._optimizer,
            model_state_dict=_without_prefix(current, tensors.MODEL),
            optim_state_dict=_without_prefix(current, _OPTIMIZER) | _options(rest, saved),
            options=_OPTIONS,
        )

    def _split_state(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        """Returns the tensors of the model and the optimizer by name, and the optimizer's other values."""
        model, optimizer = get_state_dict(self._model, self._optimizer, options=_OPTIONS)
        found = {tensors.MODEL + name: cast(Tensor, value) for name, value in model.items()}
        rest: dict[str, Any] = {}
        for name, value in optimizer.items():
            if isinstance(value, Tensor):
                found[_OPTIMIZER + name] = value
            else:
                rest[name] = value
        return found, rest


def _without_prefix(state: Mapping[str, Tensor], prefix: str) -> dict[str, Any]:
    return {name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)}


def _options(now: Mapping[str, Any], saved: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the saved options of the optimizer, and those of `now` that did not exist then."""
    # JSON has lists where the optimizer has tuples.
    return {
        name: value if name not in saved else tuple(saved[name]) if isinstance(value, tuple) else saved[name]
        for name, value in now.items()
    }
