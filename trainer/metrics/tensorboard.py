"""Curves for TensorBoard."""

import math
from pathlib import Path

from trainer.errors import ConfigError
from trainer.metrics.figures import EpochFigures, Sink, Start, StepFigures
from trainer.metrics.pace import Pace


class TensorBoard(Sink):
    """Writes scalars by step into `directory`.

    Raises:
        ConfigError: TensorBoard is not installed, or the folder cannot be written.
    """

    def __init__(self, directory: Path, pace: Pace) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise ConfigError(
                "--tensorboard-dir needs a package that is not there: pip install tensorboard, or leave it out"
            ) from error
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigError(
                f"--tensorboard-dir {directory} cannot be written ({error.strerror}): write another"
            ) from error
        self._directory = directory
        self._pace = pace
        self._open = SummaryWriter

    def started(self, start: Start) -> None:
        """Begins a file; what a run that did not get to save wrote of later steps is taken back."""
        self._writer = self._open(str(self._directory), purge_step=start.progress.step + 1)

    def stepped(self, figures: StepFigures) -> None:
        """Adds a point to the curves of steps."""
        step = figures.progress.step
        known = {
            "loss/step": figures.loss,
            "learning_rate": figures.learning_rate,
            "gradient_norm": figures.gradient_norm,
            "samples_per_second": self._pace.samples_per_second,
            "tokens_per_second": self._pace.tokens_per_second,
            "mfu": self._pace.mfu,
            "seconds/step": figures.seconds,
        } | {f"seconds/{part}": seconds for part, seconds in figures.parts(rank=0).items()}
        for name, value in known.items():
            if value is not None and not math.isnan(value):
                self._writer.add_scalar(name, value, step)

    def epoch_done(self, figures: EpochFigures) -> None:
        """Adds a point to the curves of epochs."""
        self._writer.add_scalar("loss/epoch", figures.loss, figures.step)
        self._writer.add_scalar("test_accuracy", figures.test_accuracy, figures.step)
        self._writer.flush()

    def close(self) -> None:
        """Ends the file."""
        self._writer.close()
