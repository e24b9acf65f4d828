"""The effective training time ratio of a run, over all of its processes.

The ratio is that of productive time to all time since the run first trained, as in Kokolis et al., "Revisiting
Reliability in Large-Scale Machine Learning Research Clusters" (https://arxiv.org/abs/2410.21680). A step is productive
if no later process repeats it. The event log remembers both times when a process ends in whichever way.
"""

from __future__ import annotations

import json
import mmap
import time
from pathlib import Path

from .base import RunStart, Sink, StepMetrics


class ProductiveTime(Sink):
    """The productive time of a run. Rank 0 has it, because it appends to the event log.

    Attributes:
        seconds: Time in steps that the run kept, without their waits for saves and without evaluations.
        first_start: When the run first trained, in seconds since 1970; None before.
    """

    def __init__(self, events: Path) -> None:
        self._events = events
        self.seconds = 0.0
        self.first_start: float | None = None

    @property
    def ratio(self) -> float | None:
        """The effective training time ratio until now, in [0, 1]; None before the first start."""
        elapsed = 0.0 if self.first_start is None else time.time() - self.first_start
        return min(self.seconds / elapsed, 1.0) if elapsed > 0 else None

    def on_start(self, start: RunStart) -> None:
        """Continues from the step that the run resumes from. Must precede what this process writes to the log."""
        self.seconds, self.first_start = _found(self._events, start.train_state.step) or (0.0, time.time())

    def on_step(self, metrics: StepMetrics) -> None:
        """Adds a step."""
        parts = metrics.parts(rank=0)
        self.seconds += sum(parts.values()) - parts["checkpoint"]


def _found(events: Path, step: int) -> tuple[float, float] | None:
    """Returns productive seconds and first start of a log after `step`; None if the log does not know them."""
    if not events.stat().st_size:
        return None
    with events.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as log:
        line = _line_of_step(log, step) if step else log.readline()
    try:
        event = json.loads(line)
        if not step:
            return 0.0, event["time"]
        return (event["productive_seconds"], event["first_start"]) if event["step"] <= step else None
    # An older trainer wrote the line, or a kill has cut it off.
    except (ValueError, KeyError):
        return None


def _line_of_step(log: mmap.mmap, step: int) -> bytes:
    # A log of a million steps has hundreds of MB, but the newest line of the step is near its end.
    at = log.rfind(f'"event": "step", "step": {step}, '.encode())
    if at < 0:
        # A replica that lost its peers has saved a step of which rank 0 wrote no line.
        at = max(log.rfind(b'"event": "step", '), 0)
    log.seek(log.rfind(b"\n", 0, at) + 1)
    return log.readline()
