"""What happened in a run, one line of JSON for each event, for programs to read."""

import json
import math
import time
from pathlib import Path

from trainer.errors import ConfigError
from trainer.metrics.figures import EpochFigures, Saves, Sink, Start, StepFigures


class Events(Sink):
    """Appends to one file per run, also when it is resumed.

    Each line has `time` (seconds since 1970), `event` and the `step` that was the last. Numbers are written so that
    they read back to the last bit, and null where there is none.
    """

    def __init__(self, path: Path, saves: Saves) -> None:
        self._saves = saves
        self._newest_step = saves.newest_step
        self._failed = saves.failed
        self._step = 0
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Unbuffered: what is not there yet when a process is killed is what happened last.
            self._file = path.open("ab", buffering=0)
        except OSError as error:
            raise ConfigError(f"--events-file {path} cannot be written ({error.strerror}): write another") from error

    def started(self, start: Start) -> None:
        """Writes where the run stands and where it is to end."""
        self._step = start.progress.step
        self._write("started", epoch=start.progress.epoch, position=start.progress.position, steps=start.steps)

    def stepped(self, figures: StepFigures) -> None:
        """Writes a step, and what was saved in the meantime."""
        self._step = figures.progress.step
        self._write(
            "step",
            position=figures.progress.position,
            samples=figures.samples,
            loss=figures.loss,
            learning_rate=figures.learning_rate,
            gradient_norm=figures.gradient_norm,
            seconds=figures.seconds,
            parts=figures.parts(rank=0),
        )
        self._write_saves()

    def epoch_done(self, figures: EpochFigures) -> None:
        """Writes an epoch."""
        self._write(
            "epoch",
            epoch=figures.epoch,
            loss=figures.loss,
            test_accuracy=figures.test_accuracy,
            seconds=figures.seconds,
            samples_per_second=figures.samples_per_second,
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
        line = {name: None if _is_nowhere(value) else value for name, value in known.items()}
        self._file.write(json.dumps(line, allow_nan=False).encode() + b"\n")


def _is_nowhere(value: object) -> bool:
    # JSON has no word for them.
    return isinstance(value, float) and not math.isfinite(value)
