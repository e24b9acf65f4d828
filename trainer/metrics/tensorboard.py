"""TensorBoard scalars."""

from __future__ import annotations

import math
from pathlib import Path

from trainer.errors import ConfigError
from trainer.metrics.base import EpochMetrics, RunStart, Sink, StepMetrics
from trainer.metrics.throughput import Throughput


class TensorBoard(Sink):
    """Writes scalars by step into `directory`.

    Raises:
        ConfigError: TensorBoard is not installed, or the folder cannot be written.
    """

    def __init__(self, directory: Path, throughput: Throughput) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ConfigError(
                "--tensorboard-dir needs the package tensorboard: pip install it, or leave out the option"
            ) from error
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"cannot write --tensorboard-dir {directory} ({error.strerror}): write another path"
            ) from error
        self._directory = directory
        self._throughput = throughput
        self._open = SummaryWriter

    def on_start(self, start: RunStart) -> None:
        """Opens a file and purges steps after the resumed one, which a previous process wrote but did not save."""
        self._writer = self._open(str(self._directory), purge_step=start.train_state.step + 1)

    def on_step(self, metrics: StepMetrics) -> None:
        """Adds the scalars of a step."""
        step = metrics.train_state.step
        known = {
            "loss/step": metrics.loss,
            "learning_rate": metrics.learning_rate,
            "gradient_norm": metrics.gradient_norm,
            "samples_per_second": self._throughput.samples_per_second,
            "tokens_per_second": self._throughput.tokens_per_second,
            "mfu": self._throughput.mfu,
            "seconds/step": metrics.seconds,
        } | {f"seconds/{part}": seconds for part, seconds in metrics.parts(rank=0).items()}
        for name, value in known.items():
            if value is not None and not math.isnan(value):
                self._writer.add_scalar(name, value, step)

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Adds the scalars of an epoch."""
        self._writer.add_scalar("loss/epoch", metrics.loss, metrics.step)
        self._writer.add_scalar("test_accuracy", metrics.test_accuracy, metrics.step)
        self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()
