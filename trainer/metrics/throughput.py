"""The throughput of a run."""

from __future__ import annotations

from collections import deque

from .base import WINDOW_STEPS, RunStart, Sink, StepMetrics


class Throughput(Sink):
    """Throughput over the last steps, including the time between them, such as evaluations. Unknown values are None.

    Attributes:
        tokens_per_sample: 0 if samples are not tokens.
        peak_flops: Peak of all ranks' devices together, in operations per second.
    """

    def __init__(self, *, tokens_per_sample: int, flops_per_sample: float, peak_flops: float | None) -> None:
        self.tokens_per_sample = tokens_per_sample
        self.peak_flops = peak_flops
        self._flops_per_sample = flops_per_sample
        self._taken: deque[tuple[int, float]] = deque(maxlen=WINDOW_STEPS)
        self._is_warm = False
        self._steps_left = 0
        self._steps = 0

    def on_start(self, start: RunStart) -> None:
        """Stores the total number of steps."""
        self._steps = start.steps

    def on_step(self, metrics: StepMetrics) -> None:
        """Adds a step to the window."""
        if len(self._taken) == 1 and not self._is_warm:
            # The first step of a process compiles and connects. It would distort a whole window.
            self._taken.clear()
            self._is_warm = True
        self._taken.append((metrics.samples, metrics.seconds))
        self._steps_left = max(self._steps - metrics.train_state.step, 0)

    @property
    def samples_per_second(self) -> float | None:
        """Samples per second over all ranks."""
        seconds = self._seconds()
        return sum(samples for samples, _ in self._taken) / seconds if seconds else None

    @property
    def tokens_per_second(self) -> float | None:
        """Tokens per second over all ranks; None if samples are not tokens."""
        samples = self.samples_per_second
        return samples * self.tokens_per_sample if samples and self.tokens_per_sample else None

    @property
    def mfu(self) -> float | None:
        """The model's own operations as a share of the devices' peak; None if the peak is unknown."""
        samples = self.samples_per_second
        return samples * self._flops_per_sample / self.peak_flops if samples and self.peak_flops else None

    @property
    def seconds_left(self) -> float | None:
        """Estimated seconds until the last step."""
        seconds = self._seconds()
        return self._steps_left * seconds / len(self._taken) if seconds else None

    def _seconds(self) -> float:
        return sum(seconds for _, seconds in self._taken)
