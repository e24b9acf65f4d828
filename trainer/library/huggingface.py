"""A callback for the Trainer of Transformers."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import torch.distributed as dist
from transformers import TrainerCallback

from ..runtime.signals import SIGTERM_STATUS
from .sealing import seal
from .stopping import StopVote
from .watchdog import Watchdog


class TrainyardCallback(TrainerCallback):  # type: ignore[misc]
    """Saves after SIGTERM, ends a hanging rank, and seals each checkpoint.

    All ranks save and stop after the same step if one of them receives SIGTERM. `exit_status` is then 143, which the
    script should exit with. `newest_sealed(output_dir)` finds the checkpoint to resume from.
    """

    def __init__(self, *, grace_seconds: float = 25.0, hang_seconds: float = 100.0) -> None:
        self.exit_status = 0
        self._grace_seconds = grace_seconds
        self._hang_seconds = hang_seconds
        self._stop: StopVote | None = None
        self._watched = ExitStack()
        self._between_steps = ExitStack()

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Starts the watchdog, and records SIGTERM from now on."""
        # With `auto_find_batch_size`, training begins again after an error. Its first watchdog would see no more steps.
        self._watched.close()
        self._stop = self._stop or StopVote(self._grace_seconds)
        self._watchdog = self._watched.enter_context(Watchdog(hang_seconds=self._hang_seconds))

    def on_step_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Limits the step after a save as any other one."""
        self._between_steps.close()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Asks the other ranks whether one of them received SIGTERM."""
        self._watchdog.step_done(state.global_step)
        if self._stop and self._stop.agreed():
            self.exit_status = SIGTERM_STATUS
            control.should_save = True
            control.should_training_stop = True
        self._extend_limit(control)

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Allows for a save at the end of an epoch."""
        self._extend_limit(control)

    def on_substep_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Notes progress within a step."""
        self._watchdog.alive()

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Notes progress within an evaluation."""
        self._watchdog.alive()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Seals the new checkpoint once all ranks have written it."""
        with self._watchdog.extended_limit():
            _barrier()
            if state.is_world_process_zero:
                seal(Path(args.output_dir) / f"checkpoint-{state.global_step}")
            # In the next step, the others could not tell the seal from a hang.
            _barrier()

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ends the watchdog."""
        self._watched.close()
        if self._stop:
            self._stop.release()
        self._stop = None

    def _extend_limit(self, control: Any) -> None:
        """Extends the limit until the next step. Transformers calls `on_save` only when it has written everything."""
        if control.should_save or control.should_evaluate or control.should_training_stop:
            self._between_steps.enter_context(self._watchdog.extended_limit())


def _barrier() -> None:
    if dist.is_initialized():
        dist.barrier()
