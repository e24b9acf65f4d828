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
    """An event: `name` is `started`, `step`, `saved`, `save_failed` or another, `time` is in seconds since 1970.

    `world_size` is the number of ranks of a start; 0 for other events.
    """

    name: str
    time: float
    step: int
    world_size: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of a fault.

    `seconds` is the time from the fault to the first step after the first interruption, and `paused` the time of all
    interruptions. Without an interruption (`noticed` is false), `seconds` is the longest pause between two steps. Both
    are None without a later step. `steps` is the number of steps that had to be repeated, over all `restarts`.
    `recovered` is the time from the fault to the end of the last interruption, and `rate` the number of steps per
    second in that time, without those that were repeated. Both are None if there was no interruption or no later step.
    """

    seconds: float | None
    paused: float | None
    steps: int
    restarts: int
    noticed: bool
    recovered: float | None = None
    rate: float | None = None


def read(path: Path) -> list[Event]:
    """Return the events of a file, none if it does not exist. An incomplete last line is left out."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        return []
    lines: list[dict[str, Any]] = [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("}\n")]
    return [Event(line["event"], line["time"], line["step"], line.get("world_size", 0)) for line in lines]


def steps(events: Iterable[Event]) -> list[Event]:
    """Return the steps among the events."""
    return [event for event in events if event.name == "step"]


def cost(events: Sequence[Event], injected: float, until: float) -> Cost:
    """Return the cost of a fault at time `injected`, as known at time `until`; there must be an earlier step."""
    starts = [event for event in events if event.name == "started" and event.time > injected]
    lost = sum(_lost(events, start) for start in starts)
    last = steps(events)[-1].time
    if until - last > PAUSE_SECONDS or last <= injected:
        return Cost(None, None, lost, len(starts), noticed=until - last > PAUSE_SECONDS)
    pauses = _pauses(events, injected)
    found = [pause for pause in pauses if pause.is_interruption]
    if not found:
        return Cost(max(pause.seconds for pause in pauses), 0.0, lost, len(starts), noticed=False)
    # The step before the fault may have ended earlier, but the fault costs nothing before it happens.
    paused = sum(pause.end - max(pause.begin, injected) for pause in found)
    recovered = found[-1].end - injected
    rate = _progress(events, injected, found[-1].end) / recovered
    return Cost(found[0].end - injected, paused, lost, len(starts), noticed=True, recovered=recovered, rate=rate)


@dataclass(frozen=True, slots=True)
class _Pause:
    begin: float
    end: float
    has_start: bool

    @property
    def seconds(self) -> float:
        return self.end - self.begin

    @property
    def is_interruption(self) -> bool:
        return self.has_start or self.seconds > PAUSE_SECONDS


def _pauses(events: Sequence[Event], injected: float) -> list[_Pause]:
    """Returns the times between two steps, the second of which is after the fault."""
    # The pause before the end of an epoch is its evaluation, not an interruption.
    done = [event for event in events if event.name in ("step", "epoch")]
    starts = [event.time for event in events if event.name == "started"]
    return [
        _Pause(early.time, late.time, any(early.time < start < late.time for start in starts))
        for early, late in pairwise(done)
        if late.time > injected and late.name == "step"
    ]


def _progress(events: Sequence[Event], begin: float, end: float) -> int:
    """Returns the number of steps from one time to the first step of another, none if the run is behind."""
    before = [step.step for step in steps(events) if step.time <= begin]
    first = next(step.step for step in steps(events) if step.time == end)
    return max(first - 1 - before[-1], 0)


def _lost(events: Sequence[Event], start: Event) -> int:
    done = [event.step for event in events if event.name in ("step", "started") and event.time < start.time]
    return max(done[-1] - start.step, 0)
