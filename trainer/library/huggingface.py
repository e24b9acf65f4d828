"""A callback for the Trainer of Transformers."""

from __future__ import annotations

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

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Starts the watchdog, and records SIGTERM from now on."""
        self._stop = StopVote(self._grace_seconds)
        self._watchdog = Watchdog(hang_seconds=self._hang_seconds)
        self._watchdog.__enter__()

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Asks the other ranks whether one of them received SIGTERM."""
        self._watchdog.step_done(state.global_step)
        if self._stop.agreed():
            self.exit_status = SIGTERM_STATUS
            control.should_save = True
            control.should_training_stop = True

    def on_substep_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Notes progress within a step."""
        self._watchdog.alive()

    def on_prediction_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Notes progress within an evaluation."""
        self._watchdog.alive()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Seals the new checkpoint once all ranks have written it."""
        with self._watchdog.extended_limit():
            if dist.is_initialized():
                dist.barrier()
            if state.is_world_process_zero:
                seal(Path(args.output_dir) / f"checkpoint-{state.global_step}")

    def on_train_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ends the watchdog."""
        self._watchdog.__exit__(None, None, None)
        self._stop.release()
