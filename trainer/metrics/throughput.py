"""How fast a run is."""

from collections import deque

from trainer.metrics.figures import WINDOW_STEPS, Sink, Start, StepFigures


class Pace(Sink):
    """Figures over the last steps and what came between them, such as evaluations. None is what is not known.

    `peak_flops` is of all ranks together, in operations a second.
    """

    def __init__(self, *, tokens_per_sample: int, flops_per_sample: float, peak_flops: float | None) -> None:
        self.tokens_per_sample = tokens_per_sample
        self.peak_flops = peak_flops
        self._flops_per_sample = flops_per_sample
        self._taken: deque[tuple[int, float]] = deque(maxlen=WINDOW_STEPS)
        self._is_warm = False
        self._steps_left = 0
        self._steps = 0

    def started(self, start: Start) -> None:
        """Learns where the run is to end."""
        self._steps = start.steps

    def stepped(self, figures: StepFigures) -> None:
        """Notes a step."""
        if len(self._taken) == 1 and not self._is_warm:
            # The first step of a process compiles and connects: it would spoil the figures for a whole window.
            self._taken.clear()
            self._is_warm = True
        self._taken.append((figures.samples, figures.seconds))
        self._steps_left = max(self._steps - figures.progress.step, 0)

    @property
    def samples_per_second(self) -> float | None:
        """Over all ranks."""
        seconds = self._seconds()
        return sum(samples for samples, _ in self._taken) / seconds if seconds else None

    @property
    def tokens_per_second(self) -> float | None:
        """Over all ranks; None where samples have no tokens."""
        samples = self.samples_per_second
        return samples * self.tokens_per_sample if samples and self.tokens_per_sample else None

    @property
    def mfu(self) -> float | None:
        """The share of the devices' peak that the model's own operations make up; None where no peak is known."""
        samples = self.samples_per_second
        return samples * self._flops_per_sample / self.peak_flops if samples and self.peak_flops else None

    @property
    def seconds_left(self) -> float | None:
        """Until the last step, if it goes on like this."""
        seconds = self._seconds()
        return self._steps_left * seconds / len(self._taken) if seconds else None

    def _seconds(self) -> float:
        return sum(seconds for _, seconds in self._taken)
