"""Ranks that hold the others up."""

from collections import deque
from collections.abc import Sequence

from trainer.metrics.figures import WINDOW_STEPS, Sink, StepFigures
from trainer.runtime.boundary import Report


def own_seconds(report: Report) -> float:
    """What a rank needed for its own part of a step: data and forward, and backward where its waiting is known.

    Elsewhere backward is left out, as every rank waits there for the gradients of the slowest. Where a strategy gathers
    weights in forward, too (fsdp2, tensor, ZeRO 3), ranks wait there, and only slow data and a part of forward show.
    """
    own_backward = report.backward_seconds - report.wait_seconds if report.wait_seconds else 0.0
    return report.data_seconds + report.forward_seconds + own_backward


def scores(steps: Sequence[Sequence[float]]) -> list[float]:
    """By rank, the fastest rank's seconds as a share of its own: 1 is as fast as the fastest, 0.5 takes twice as long.

    `steps` has a row for each step, and in it the seconds of each rank, at least 0.
    """
    totals = [sum(seconds) for seconds in zip(*steps, strict=True)]
    return [min(totals) / total if total else 1.0 for total in totals]


class Stragglers(Sink):
    """The scores over the last steps."""

    def __init__(self) -> None:
        self._steps: deque[list[float]] = deque(maxlen=WINDOW_STEPS)

    def stepped(self, figures: StepFigures) -> None:
        """Notes the ranks' seconds."""
        self._steps.append([own_seconds(report) for report in figures.reports])

    def scores(self) -> list[float]:
        """By rank; none before the first step."""
        return scores(self._steps)
