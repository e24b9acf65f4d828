"""What a run reports about itself, and to whom."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from trainer.progress import Progress
from trainer.runtime.boundary import Report

# Over which figures are taken that are of the last steps.
WINDOW_STEPS = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Start:
    """What is known when training begins. `steps` and `epochs` are where the run is to end."""

    progress: Progress
    epochs: int
    steps: int


@dataclass(frozen=True, kw_only=True, slots=True)
class StepFigures:
    """One step, over all ranks. `loss` is the mean over its samples; `reports` are those of the ranks, by rank.

    `seconds` is this rank's time from the end of the step before to the end of this one; `update_seconds`,
    `exchange_seconds` and `checkpoint_seconds` are the parts of it that this rank spent in the optimizer, waiting for
    the other ranks at the boundary, and stalled by a save. `gradient_norm` is nan where gradients are not clipped.
    """

    progress: Progress
    samples: int
    loss: float
    learning_rate: float
    gradient_norm: float
    seconds: float
    update_seconds: float
    exchange_seconds: float
    checkpoint_seconds: float
    reports: Sequence[Report]

    def parts(self, rank: int) -> dict[str, float]:
        """Where the time of this step went, in seconds, on `rank`, whose figures these are.

        `communication` is what this rank waited for the others when it was done: with its step, and with ddp on a CPU
        with its gradients. What else it waited in the middle of a step is in the part that it waited in: with fsdp2 and
        tensor in `forward` and `backward`. The parts leave out what comes between steps, such as evaluations.
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
class EpochFigures:
    """Figures over all ranks.

    `loss` is the mean over all training samples as they were trained on, `test_accuracy` a share in [0, 1] of all test
    samples (tokens). `seconds` is rank 0's time for the training steps; evaluation and checkpoint come on top.
    """

    epoch: int
    step: int
    loss: float
    test_accuracy: float
    seconds: float
    samples_per_second: float

    def line(self, epochs: int) -> str:
        """The line of the log, for a run of `epochs`."""
        return (
            f"epoch={self.epoch}/{epochs} loss={self.loss:.4f} test_accuracy={self.test_accuracy:.4f} "
            f"seconds={self.seconds:.2f} samples_per_second={self.samples_per_second:.0f}"
        )


class Saves(Protocol):
    """What is known of the saves of this process. Every field may be read at any time, from any thread.

    `save_seconds` is from the beginning of each save until it was durable or had failed. `newest_step` and
    `newest_time`, of the clock, are of the newest checkpoint that was saved or resumed from.
    """

    saved: int
    failed: int
    save_seconds: float
    newest_step: int | None
    newest_time: float | None


class Sink:
    """Somebody who is told, and does nothing unless a subclass does. Most are on rank 0 alone."""

    def started(self, start: Start) -> None:
        """Training begins, or goes on."""

    def stepped(self, figures: StepFigures) -> None:
        """A step is done."""

    def epoch_done(self, figures: EpochFigures) -> None:
        """An epoch is trained and evaluated."""

    def close(self) -> None:
        """Nothing more will come."""
