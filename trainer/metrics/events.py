"""Events of a run as JSON lines, for programs to read."""

from __future__ import annotations

import json
import math
import os
import time
from pathlib import Path

from ..checkpoint.metrics import CheckpointMetrics
from ..errors import ConfigError
from .base import EpochMetrics, EvaluationMetrics, RunStart, Sink, StepMetrics
from .productive import ProductiveTime


class Events(Sink):
    """Appends events to one file per run, including resumed ones.

    Each line has `time` (seconds since 1970), `event` and the last `step`. Numbers are written with full precision, and
    as null if they are not finite.
    """

    def __init__(self, path: Path, saves: CheckpointMetrics, productive: ProductiveTime) -> None:
        self._saves = saves
        self._productive = productive
        self._newest_step = saves.newest_step
        self._failed = saves.failed
        self._step = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered, so that the last events before a kill are not lost.
            self._file = path.open("ab", buffering=0)
            if _is_cut_off(path):
                self._file.write(b"\n")
        except OSError as error:
            raise ConfigError(f"cannot write --events-file {path} ({error.strerror}): write another path") from error

    def on_start(self, start: RunStart) -> None:
        """Writes the current position, the total number of steps and the number of ranks."""
        self._step = start.train_state.step
        self._write(
            "started",
            epoch=start.train_state.epoch,
            position=start.train_state.position,
            steps=start.steps,
            world_size=start.world_size,
        )

    def on_step(self, metrics: StepMetrics) -> None:
        """Writes a step, and the saves since the last one."""
        self._step = metrics.train_state.step
        self._write(
            "step",
            position=metrics.train_state.position,
            samples=metrics.samples,
            loss=metrics.loss,
            learning_rate=metrics.learning_rate,
            gradient_norm=metrics.gradient_norm,
            seconds=metrics.seconds,
            parts=metrics.parts(rank=0),
            productive_seconds=self._productive.seconds,
            first_start=self._productive.first_start,
            **_gpu_fields(metrics),
        )
        self._write_saves()

    def on_evaluation(self, metrics: EvaluationMetrics) -> None:
        """Writes an evaluation."""
        score = metrics.score
        self._write("evaluation", test_loss=score.loss, test_accuracy=score.accuracy, seconds=metrics.seconds)

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Writes an epoch."""
        score = metrics.score
        self._write(
            "epoch",
            epoch=metrics.epoch,
            loss=metrics.loss,
            test_loss=score.loss if score else None,
            test_accuracy=score.accuracy if score else None,
            seconds=metrics.seconds,
            samples_per_second=metrics.samples_per_second,
        )

    def close(self) -> None:
        """Writes the end, whatever the reason."""
        self._write_saves()
        self._write("ended")
        self._file.close()

    def _write_saves(self) -> None:
        if self._saves.newest_step != self._newest_step:
            self._newest_step = self._saves.newest_step
            self._write("saved", saved_step=self._newest_step)
        if self._saves.failed > self._failed:
            self._failed = self._saves.failed
            self._write("save_failed")

    def _write(self, event: str, **fields: object) -> None:
        known = {"time": time.time(), "event": event, "step": self._step, **fields}
        line = {name: None if _is_not_finite(value) else value for name, value in known.items()}
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")


def _is_cut_off(path: Path) -> bool:
    """Returns true if a full disk or the loss of a node has cut the last line off."""
    if not path.is_file() or not path.stat().st_size:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


def _gpu_fields(metrics: StepMetrics) -> dict[str, int]:
    if not metrics.gpu_memory:
        return {}
    peak, reserved = metrics.gpu_memory
    return {"gpu_peak_bytes": int(peak), "gpu_reserved_bytes": int(reserved)}


def _is_not_finite(value: object) -> bool:
    # JSON cannot represent infinity or NaN.
    return isinstance(value, float) and not math.isfinite(value)
