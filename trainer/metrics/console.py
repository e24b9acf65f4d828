"""How far a run is, for whoever looks at its output: a bar on a terminal, lines in a log."""

import sys
from importlib.util import find_spec

from trainer.config import TrainerConfig
from trainer.metrics.figures import Sink, Start, StepFigures
from trainer.metrics.pace import Pace
from trainer.runtime.log import log


def console(config: TrainerConfig, pace: Pace) -> Sink | None:
    """What suits this process's output; None where the lines of epochs are enough."""
    if sys.stdout.isatty() and find_spec("rich"):
        return Bar(pace)
    return Lines(pace, config.log_steps) if config.log_steps else None


class Lines(Sink):
    """A line every `every` steps."""

    def __init__(self, pace: Pace, every: int) -> None:
        self._pace = pace
        self._every = every
        self._steps = 0

    def started(self, start: Start) -> None:
        """Learns where the run is to end."""
        self._steps = start.steps

    def stepped(self, figures: StepFigures) -> None:
        """Writes a line when it is time to."""
        step = figures.progress.step
        if step % self._every == 0:
            log(f"step={step}/{self._steps} {described(figures, self._pace)}")


class Bar(Sink):
    """A bar that fills up; lines of the log are written above it."""

    def __init__(self, pace: Pace) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._pace = pace
        self._bar = Progress(TextColumn("step"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"))
        self._task = self._bar.add_task("")

    def started(self, start: Start) -> None:
        """Shows it."""
        self._bar.update(self._task, total=start.steps, completed=start.progress.step)
        self._bar.start()

    def stepped(self, figures: StepFigures) -> None:
        """Fills it."""
        self._bar.update(
            self._task, completed=figures.progress.step, description=described(figures, self._pace), refresh=False
        )

    def close(self) -> None:
        """Leaves it as it is: the terminal is the log's again."""
        self._bar.stop()


def described(figures: StepFigures, pace: Pace) -> str:
    """What is known of a step, as `name=value`."""
    said = [f"loss={figures.loss:.4f}"]
    if pace.tokens_per_second:
        said.append(f"tokens_per_second={pace.tokens_per_second:.0f}")
    elif pace.samples_per_second:
        said.append(f"samples_per_second={pace.samples_per_second:.0f}")
    if pace.mfu:
        said.append(f"mfu={pace.mfu:.3f}")
    if pace.seconds_left is not None:
        said.append(f"eta={clock(pace.seconds_left)}")
    return " ".join(said)


def clock(seconds: float) -> str:
    """`seconds` as hours, minutes and seconds: 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
