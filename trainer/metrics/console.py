"""Progress on the console: a progress bar on a terminal, lines in a log."""

from __future__ import annotations

import sys
from importlib.util import find_spec

from ..config import TrainerConfig
from ..runtime.log import log
from .base import RunStart, Sink, StepMetrics
from .productive import ProductiveTime
from .throughput import Throughput

_GIB = 1 << 30


def build_console_sink(
    config: TrainerConfig, throughput: Throughput, productive: ProductiveTime | None = None
) -> Sink | None:
    """Returns the sink that suits this process's stdout; None if the lines per epoch are enough."""
    if sys.stdout.isatty() and find_spec("rich"):
        return ProgressBar(throughput)
    return ProgressLines(throughput, config.log_steps, productive) if config.log_steps else None


class ProgressLines(Sink):
    """Logs a line every `every` steps."""

    def __init__(self, throughput: Throughput, every: int, productive: ProductiveTime | None = None) -> None:
        self._throughput = throughput
        self._every = every
        self._productive = productive
        self._steps = 0

    def on_start(self, start: RunStart) -> None:
        """Stores the total number of steps."""
        self._steps = start.steps

    def on_step(self, metrics: StepMetrics) -> None:
        """Logs a line if it is due."""
        step = metrics.train_state.step
        if step % self._every == 0:
            ratio = self._productive.ratio if self._productive else None
            effective = "" if ratio is None else f" ettr={ratio:.3f}"
            log(f"step={step}/{self._steps} {describe_step(metrics, self._throughput)}{effective}")


class ProgressBar(Sink):
    """A progress bar; log lines appear above it."""

    def __init__(self, throughput: Throughput) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._throughput = throughput
        self._bar = Progress(TextColumn("step"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.description}"))
        self._task = self._bar.add_task("")

    def on_start(self, start: RunStart) -> None:
        """Shows the bar."""
        self._bar.update(self._task, total=start.steps, completed=start.train_state.step)
        self._bar.start()

    def on_step(self, metrics: StepMetrics) -> None:
        """Advances the bar."""
        self._bar.update(
            self._task,
            completed=metrics.train_state.step,
            description=describe_step(metrics, self._throughput),
            refresh=False,
        )

    def close(self) -> None:
        """Leaves the bar as it is and releases the terminal."""
        self._bar.stop()


def describe_step(metrics: StepMetrics, throughput: Throughput) -> str:
    """Formats the metrics of a step as `name=value`."""
    said = [f"loss={metrics.loss:.4f}"]
    if throughput.tokens_per_second:
        said.append(f"tokens_per_second={throughput.tokens_per_second:.0f}")
    elif throughput.samples_per_second:
        said.append(f"samples_per_second={throughput.samples_per_second:.0f}")
    if throughput.mfu:
        said.append(f"mfu={throughput.mfu:.3f}")
    if metrics.gpu_memory:
        peak, reserved = (size / _GIB for size in metrics.gpu_memory)
        said.append(f"gpu_peak_gib={peak:.2f} gpu_reserved_gib={reserved:.2f}")
    if throughput.seconds_left is not None:
        said.append(f"eta={format_duration(throughput.seconds_left)}")
    return " ".join(said)


def format_duration(seconds: float) -> str:
    """Formats `seconds` as hours, minutes and seconds: 1:02:03."""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}"
