"""The steps of a run over time, and the cost of a fault computed from them; rank 0 writes the events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

# Evaluations and synchronous saves are shorter; a longer pause between two steps is an interruption.
PAUSE_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Event:
    """An event: `name` is `started`, `step`, `saved`, `save_failed` or another, `time` is in seconds since 1970."""

    name: str
    time: float
    step: int


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a fault.

    `seconds` is the time from the fault to the first step after the interruption. If the run was not interrupted
    (`noticed` is false), it is the longest pause between two steps. It is None without a later step. `steps` is the
    number of steps that had to be repeated, over all `restarts`.
    """

    seconds: float | None
    steps: int
    restarts: int
    noticed: bool


def read(path: Path) -> list[Event]:
    """Return the events of a file, none if it does not exist. An incomplete last line is left out."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("}\n")]
    return [Event(line["event"], line["time"], line["step"]) for line in lines]


def steps(events: Iterable[Event]) -> list[Event]:
    """Return the steps among the events."""
    return [event for event in events if event.name == "step"]


def cost(events: Sequence[Event], injected: float, until: float) -> Cost:
    """Return the cost of a fault at time `injected`, as known at time `until`; there must be an earlier step."""
    after = [event for event in events if event.time > injected]
    starts = [event for event in after if event.name == "started"]
    lost = sum(_lost(events, start) for start in starts)
    times = [step.time for step in steps(events)]
    if until - times[-1] > PAUSE_SECONDS:
        return Cost(None, lost, len(starts), noticed=True)
    if starts:
        resumed = next((time for time in times if time > starts[0].time), None)
        return Cost(resumed and resumed - injected, lost, len(starts), noticed=True)
    if times[-1] <= injected:
        return Cost(None, 0, 0, noticed=False)
    # The pause before the end of an epoch is its evaluation, not an interruption.
    done = [event for event in events if event.name in ("step", "epoch")]
    pairs = [(early, late) for early, late in pairwise(done) if late.time > injected and late.name == "step"]
    longest, end = max((late.time - early.time, late.time) for early, late in pairs)
    noticed = longest > PAUSE_SECONDS
    return Cost(end - injected if noticed else longest, 0, 0, noticed=noticed)


def _lost(events: Sequence[Event], start: Event) -> int:
    done = [event.step for event in events if event.name in ("step", "started") and event.time < start.time]
    return max(done[-1] - start.step, 0)
