"""TensorBoard scalars."""

from __future__ import annotations

from pathlib import Path

from ..errors import ConfigError
from .base import EpochMetrics, EvaluationMetrics, RunStart, Sink, StepMetrics
from .scalars import epoch_scalars, evaluation_scalars, step_scalars
from .throughput import Throughput


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
        self._add(step_scalars(metrics, self._throughput), metrics.train_state.step)

    def on_evaluation(self, metrics: EvaluationMetrics) -> None:
        """Adds the scalars of an evaluation."""
        self._add(evaluation_scalars(metrics), metrics.step)

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Adds the scalars of an epoch."""
        self._add(epoch_scalars(metrics), metrics.step)
        self._writer.flush()

    def close(self) -> None:
        """Closes the file."""
        self._writer.close()

    def _add(self, scalars: dict[str, float], step: int) -> None:
        for name, value in scalars.items():
            self._writer.add_scalar(name, value, step)
