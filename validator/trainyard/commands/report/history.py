"""The past of a run by its logs: loss and speed by step, checkpoints and restarts.

The lines are those of the reference trainer, see trainer/metrics and trainer/checkpoint/manager.py. A program that
writes none of them has no history here.
"""

from __future__ import annotations

import datetime
import itertools
import re
import statistics
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from trainyard.commands.status.snapshot import moment

_STEP = re.compile(r"step=(\d+)/(\d+) ")
_EPOCH = re.compile(r"epoch=(\d+)/(\d+) ")
_EVALUATED = re.compile(r"evaluated: step=(\d+) ")
_SAVED = re.compile(r"checkpoint saved: .*?\bstep=(\d+)")
_RESUMED = re.compile(r"resumed: .*?\bstep=(\d+)")
_VALUE = re.compile(r"\b([a-z_]+)=(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)\b")


class Report(NamedTuple):
    """A line with measured values. `at` is a step or an epoch, `values` are by name, such as `loss`."""

    at: int
    time: datetime.datetime
    values: Mapping[str, float]


class Save(NamedTuple):
    """A checkpoint that was published."""

    step: int
    time: datetime.datetime


class Restart(NamedTuple):
    """A start from a checkpoint: the last step that was seen before it, and the seconds without a step.

    `repeated` is None if no step was seen before, as after a resume in new pods. The same is true of `pause`.
    """

    step: int
    time: datetime.datetime
    repeated: int | None = None
    pause: float | None = None


@dataclass
class History:
    """The past of a run. `unit` is what the reports count: `step`, or `epoch` for a log without lines by step."""

    unit: str = "step"
    total: int | None = None
    reports: list[Report] = field(default_factory=list)
    saves: list[Save] = field(default_factory=list)
    restarts: list[Restart] = field(default_factory=list)

    def values(self, *names: str) -> list[tuple[float, float]]:
        """Returns the points of the first of these values that the log has; of a repeated step, the newest."""
        for name in names:
            found = {report.at: report.values[name] for report in self.reports if name in report.values}
            if found:
                return sorted((float(at), value) for at, value in found.items())
        return []

    def median(self, *names: str) -> float | None:
        """Returns the median of a value, None without one."""
        points = self.values(*names)
        return statistics.median(value for _, value in points) if points else None

    @property
    def step_seconds(self) -> float | None:
        """The median time of a step, from the times of consecutive lines; None for a log without lines by step."""
        if self.unit != "step":
            return None
        gaps = [
            (later.time - earlier.time).total_seconds() / (later.at - earlier.at)
            for earlier, later in itertools.pairwise(self.reports)
            if later.at > earlier.at
        ]
        return statistics.median(gaps) if gaps else None


def history(logs: Iterable[str]) -> History:
    """Returns the history in logs whose lines start with their times, as with `kubectl logs --timestamps`."""
    steps, epochs = History(), History("epoch")
    last: tuple[int, datetime.datetime] | None = None
    for time, words in sorted(_lines(logs), key=lambda line: line[0]):
        if found := _STEP.match(words):
            last = int(found[1]), time
            _add(steps, found, time, words)
        elif found := _EPOCH.match(words):
            _add(epochs, found, time, words)
            if last is not None:
                # The line names no step; the evaluation is of the last one, which may have no line of its own.
                steps.reports.append(Report(last[0], time, _scores(words)))
        elif found := _EVALUATED.match(words):
            steps.reports.append(Report(int(found[1]), time, _scores(words)))
        elif found := _SAVED.match(words):
            steps.saves.append(Save(int(found[1]), time))
        elif found := _RESUMED.match(words):
            steps.restarts.append(_restart(int(found[1]), time, last))
    if last is None and epochs.reports:
        epochs.saves, epochs.restarts = steps.saves, steps.restarts
        return epochs
    return steps


def _lines(logs: Iterable[str]) -> Iterator[tuple[datetime.datetime, str]]:
    for log in logs:
        for line in log.splitlines():
            stamp, _, words = line.partition(" ")
            time = moment(stamp)
            if time is not None:
                yield time, words


def _scores(words: str) -> dict[str, float]:
    return {name: value for name, value in _values(words).items() if name.startswith("test_")}


def _values(words: str) -> dict[str, float]:
    return {name: float(number) for name, number in _VALUE.findall(words) if name not in ("step", "epoch")}


def _add(known: History, found: re.Match[str], time: datetime.datetime, words: str) -> None:
    known.total = int(found[2])
    known.reports.append(Report(int(found[1]), time, _values(words)))


def _restart(step: int, time: datetime.datetime, last: tuple[int, datetime.datetime] | None) -> Restart:
    if last is None:
        return Restart(step, time)
    return Restart(step, time, max(0, last[0] - step), (time - last[1]).total_seconds())
