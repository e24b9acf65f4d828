"""Scores that reveal stragglers: ranks that slow the others down."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from ..runtime.step_sync import StepReport
from .base import WINDOW_STEPS, Sink, StepMetrics


def own_seconds(report: StepReport) -> float:
    """Returns a rank's own time in a step: data, forward, and backward if its wait time is known.

    Otherwise backward is left out, because every rank waits there for the slowest one's gradients. If a strategy also
    gathers weights in forward (fsdp2, tensor, ZeRO 3), ranks wait there too, and only slow data and part of a slow
    forward are visible.
    """
    own_backward = report.backward_seconds - report.wait_seconds if report.wait_seconds else 0.0
    return report.data_seconds + report.forward_seconds + own_backward


def straggler_scores(steps: Sequence[Sequence[float]]) -> list[float]:
    """Returns each rank's score, the fastest rank's time divided by its own: 1 is the fastest, 0.5 takes twice as long.

    `steps` has one row per step with the seconds of each rank, which are not negative.
    """
    totals = [sum(seconds) for seconds in zip(*steps, strict=True)]
    return [min(totals) / total if total else 1.0 for total in totals]


class Stragglers(Sink):
    """The scores over the last steps."""

    def __init__(self) -> None:
        self._steps: deque[list[float]] = deque(maxlen=WINDOW_STEPS)

    def on_step(self, metrics: StepMetrics) -> None:
        """Adds a step to the window."""
        self._steps.append([own_seconds(report) for report in metrics.reports])

    def scores(self) -> list[float]:
        """Returns the score of each rank; empty before the first step."""
        return straggler_scores(self._steps)
