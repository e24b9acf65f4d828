"""The metrics of a run, and the interface of the sinks that receive them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..runtime.step_sync import StepReport
from ..train_state import TrainState

# The window of metrics over the last steps.
WINDOW_STEPS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class RunStart:
    """The run when training begins or resumes. `epochs` and `steps` are the totals of the run."""

    train_state: TrainState
    epochs: int
    steps: int
    world_size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepMetrics:
    """One step over all ranks.

    Attributes:
        train_state: The progress after the step.
        samples: Samples over all ranks.
        loss: Mean loss of the samples.
        learning_rate: The learning rate of the step.
        gradient_norm: Norm of the gradients before clipping; inf if they are not finite.
        seconds: This rank's time from the end of the previous step to the end of this one.
        update_seconds: Part of it spent in the optimizer.
        exchange_seconds: Part of it spent waiting for the other ranks after the step.
        checkpoint_seconds: Part of it spent waiting for a save.
        reports: The reports of all ranks, in rank order.
    """

    train_state: TrainState
    samples: int
    loss: float
    learning_rate: float
    gradient_norm: float
    seconds: float
    update_seconds: float
    exchange_seconds: float
    checkpoint_seconds: float
    reports: Sequence[StepReport]

    @property
    def gpu_memory(self) -> tuple[float, float] | None:
        """Peak of the memory of tensors and reserved memory, in bytes, of the GPU with most; None without GPUs."""
        peak = max((report.gpu_peak_bytes for report in self.reports), default=0.0)
        return (peak, max(report.gpu_reserved_bytes for report in self.reports)) if peak else None

    def parts(self, rank: int) -> dict[str, float]:
        """Returns the time of this step by part, in seconds, on `rank`, which must be the rank that measured it.

        `communication` is the time this rank waited for others after its own work: after the step and, with ddp on a
        CPU, for gradients. Waits within a part count for that part: with fsdp2 and tensor, `forward` and `backward`.
        Time between steps, such as evaluation, is in no part.
        """
        report = self.reports[rank]
        return {
            "data": report.data_seconds,
            "forward": report.forward_seconds,
            "backward": report.backward_seconds - report.wait_seconds,
            "communication": self.exchange_seconds + report.wait_seconds,
            "update": self.update_seconds,
            "checkpoint": self.checkpoint_seconds,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Score:
    """The result of an evaluation.

    Attributes:
        loss: Mean loss of the test samples.
        accuracy: Share of them (of tokens) answered correctly, in [0, 1].
    """

    loss: float
    accuracy: float

    def __str__(self) -> str:
        return f"test_loss={self.loss:.4f} test_accuracy={self.accuracy:.4f}"


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationMetrics:
    """One evaluation over all ranks, after `step`; `seconds` are those of rank 0."""

    step: int
    score: Score
    seconds: float


@dataclass(frozen=True, kw_only=True, slots=True)
class EpochMetrics:
    """One epoch over all ranks.

    Attributes:
        epoch: The epoch, counted from 1.
        step: The last step.
        loss: Mean loss of all training samples, each at the time of its step.
        score: The result of the evaluation at the end of the epoch; None without test data.
        seconds: Rank 0's time for the training steps, without evaluation and checkpoint.
        samples_per_second: Throughput over all ranks.
    """

    epoch: int
    step: int
    loss: float
    seconds: float
    samples_per_second: float
    score: Score | None = None

    def line(self, epochs: int) -> str:
        """Returns the log line, for a run of `epochs`."""
        tested = f"{self.score} " if self.score else ""
        return (
            f"epoch={self.epoch}/{epochs} loss={self.loss:.4f} {tested}"
            f"seconds={self.seconds:.2f} samples_per_second={self.samples_per_second:.0f}"
        )


class Sink:
    """Receives the metrics of a run. Subclasses override what they need. Most sinks exist on rank 0 only."""

    def on_start(self, start: RunStart) -> None:
        """Called when training begins or resumes."""

    def on_step(self, metrics: StepMetrics) -> None:
        """Called after each step."""

    def on_evaluation(self, metrics: EvaluationMetrics) -> None:
        """Called after each evaluation, before the end of its epoch."""

    def on_epoch_end(self, metrics: EpochMetrics) -> None:
        """Called after each epoch and its evaluation."""

    def close(self) -> None:
        """Called once, at the end."""
