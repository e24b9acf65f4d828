"""The steps of a run by the clock: from the lines that its rank 0 writes, what a fault has cost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

# An evaluation, or a save of a script that waits for it, takes less; what stands still for longer was held up.
PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the events: `name` is `started`, `step`, `saved`, `save_failed` or another; `time` since 1970."""

    name: str
    time: float
    step: int


@dataclass(frozen=True, slots=True)
class Cost:
    """What a fault has cost.

    `seconds` is the time from the fault to the next step after the run was held up; for a run that was not held up, its
    longest pause between two steps. None when no step has come. `steps` are those that were done and had to be done
    again, over all `restarts` that followed.
    """

    seconds: float | None
    steps: int
    restarts: int
    noticed: bool


def read(path: Path) -> list[Event]:
    """The events that a file has until now; none without a file. A line that is still being written is left out."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("}\n")]
    return [Event(line["event"], line["time"], line["step"]) for line in lines]


def steps(events: Iterable[Event]) -> list[Event]:
    """The steps among the events."""
    return [event for event in events if event.name == "step"]


def cost(events: Sequence[Event], struck: float, until: float) -> Cost:
    """What a fault at time `struck` has cost, as seen at time `until`; there must be a step before it."""
    after = [event for event in events if event.time > struck]
    starts = [event for event in after if event.name == "started"]
    lost = sum(_lost(events, start) for start in starts)
    times = [step.time for step in steps(events)]
    if until - times[-1] > PAUSE_SECONDS:
        return Cost(None, lost, len(starts), noticed=True)
    if starts:
        resumed = next((time for time in times if time > starts[0].time), None)
        return Cost(resumed and resumed - struck, lost, len(starts), noticed=True)
    if times[-1] <= struck:
        return Cost(None, 0, 0, noticed=False)
    # What ends in an epoch is its evaluation, and no pause.
    done = [event for event in events if event.name in ("step", "epoch")]
    pairs = [(early, late) for early, late in pairwise(done) if late.time > struck and late.name == "step"]
    longest, end = max((late.time - early.time, late.time) for early, late in pairs)
    noticed = longest > PAUSE_SECONDS
    return Cost(end - struck if noticed else longest, 0, 0, noticed=noticed)


def _lost(events: Sequence[Event], start: Event) -> int:
    done = [event.step for event in events if event.name in ("step", "started") and event.time < start.time]
    return max(done[-1] - start.step, 0)
