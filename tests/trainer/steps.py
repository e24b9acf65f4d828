"""Figures of steps that nobody took."""

from __future__ import annotations

from collections.abc import Sequence

from trainer.metrics.figures import Start, StepFigures
from trainer.metrics.pace import Pace
from trainer.progress import Progress
from trainer.runtime.boundary import Report

STEPS = 200
SAMPLES = 32


def start(step: int = 0, **progress: int) -> Start:
    """A run of two epochs and `STEPS` steps, at `step`."""
    return Start(progress=Progress(step=step, **progress), epochs=2, steps=STEPS)


def figures(step: int, *, loss: float = 0.5, seconds: float = 0.25, reports: Sequence[Report] = ()) -> StepFigures:
    """A step of which every part took some of `seconds`."""
    return StepFigures(
        progress=Progress(step=step, position=SAMPLES * step),
        samples=SAMPLES,
        loss=loss,
        learning_rate=0.001,
        gradient_norm=float("nan"),
        seconds=seconds,
        update_seconds=0.03,
        exchange_seconds=0.02,
        checkpoint_seconds=0.01,
        reports=reports or [Report(data_seconds=0.04, forward_seconds=0.05, backward_seconds=0.1)],
    )


def pace(*, tokens_per_sample: int = 0, peak_flops: float | None = None) -> Pace:
    """That of a run that is about to begin, of a model that needs a million operations for a sample."""
    return Pace(tokens_per_sample=tokens_per_sample, flops_per_sample=1e6, peak_flops=peak_flops)
