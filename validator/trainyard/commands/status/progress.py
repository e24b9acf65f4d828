"""Progress of a run, from its own reports: progress lines of the log, metrics, or the status of a TrainJob.

The reference trainer writes all three; see trainer/metrics. A program that writes none of them has no progress here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from trainyard.commands.status.snapshot import moment
from trainyard.document.lookup import integer, items, mapping, text

_STEP = re.compile(r"^step=(\d+)/(\d+) ")
_SAVED = re.compile(r"^checkpoint saved: .*?\bstep=(\d+)")
_EPOCH = re.compile(r"^epoch=\d+/\d+ ")
_RATE = re.compile(r"\b(samples|tokens)_per_second=([\d.]+)")
_LEFT = re.compile(r"\beta=(\d+):(\d\d):(\d\d)\b")
_ETTR = re.compile(r"\bettr=([\d.]+)")
_METRIC = re.compile(r'^(trainer_\w+)(?:\{rank="(\d+)"\})? (\S+)$', re.MULTILINE)


class Progress(NamedTuple):
    """A report of a pod about its run. Unknown values are None.

    `rate` is the number of samples or tokens per second, `checkpoint` the time of the newest checkpoint in seconds
    since 1970. `ettr` is the effective training time ratio of trainer/metrics/productive.py, in [0, 1]. `scores` has
    for each rank the fastest rank's time divided by its own: 0.5 is twice as slow.
    """

    step: int | None = None
    steps: int | None = None
    rate: float | None = None
    unit: str = "samples"
    seconds_left: float | None = None
    checkpoint: float | None = None
    ettr: float | None = None
    scores: Mapping[int, float] = MappingProxyType({})

    def or_else(self, other: Progress) -> Progress:
        """Returns this report, with the values of another one where this one has none."""
        unit = self.unit if self.rate is not None else other.unit
        merged = {field: getattr(other, field) for field in self._fields if getattr(self, field) in (None, {})}
        return self._replace(**{**merged, "unit": unit})


def from_log(log: str) -> Progress:
    """Returns what the last lines of a log say; each line starts with its time, as with `kubectl logs --timestamps`."""
    found: dict[str, Any] = {}
    for line in log.splitlines():
        time, _, words = line.partition(" ")
        if step := _STEP.match(words):
            found |= {"step": int(step[1]), "steps": int(step[2])}
        elif saved := _SAVED.match(words):
            when = moment(time)
            found |= {"step": max(int(saved[1]), found.get("step", 0)), "checkpoint": when and when.timestamp()}
        elif not _EPOCH.match(words):
            continue
        if rate := _RATE.search(words):
            found |= {"rate": float(rate[2]), "unit": rate[1]}
        if effective := _ETTR.search(words):
            found["ettr"] = float(effective[1])
        if left := _LEFT.search(words):
            found["seconds_left"] = 3600.0 * int(left[1]) + 60 * int(left[2]) + int(left[3])
    return Progress(**found)


def from_metrics(page: str, now: float) -> Progress:
    """Returns what the metrics of the reference trainer say; `now` is in seconds since 1970."""
    values: dict[str, float] = {}
    scores: dict[int, float] = {}
    for name, rank, number in _METRIC.findall(page):
        value = _number(number)
        if value is not None and rank and name == "trainer_straggler_score":
            scores[int(rank)] = value
        elif value is not None and not rank:
            values[name] = value
    tokens = values.get("trainer_tokens_per_second")
    step, steps = values.get("trainer_step"), values.get("trainer_steps")
    count, seconds = values.get("trainer_step_seconds_count"), values.get("trainer_step_seconds_sum")
    left = (steps - step) * seconds / count if step is not None and steps and count and seconds is not None else None
    productive, first_start = (
        values.get(f"trainer_{name}") for name in ("productive_seconds", "first_start_timestamp_seconds")
    )
    return Progress(
        step=None if step is None else int(step),
        steps=int(steps) if steps else None,
        rate=tokens if tokens is not None else values.get("trainer_samples_per_second"),
        unit="samples" if tokens is None else "tokens",
        seconds_left=left,
        checkpoint=values.get("trainer_checkpoint_timestamp_seconds"),
        ettr=productive / max(productive, now - first_start) if productive and first_start is not None else None,
        scores=scores,
    )


def from_train_job(job: dict[str, Any]) -> Progress:
    """Returns what the status of a TrainJob says."""
    status = mapping(job, "status", "trainerStatus")
    values = {text(item, "name"): _number(text(item, "value")) for item in items(status, "metrics")}
    step, tokens = values.get("step"), values.get("tokens_per_second")
    return Progress(
        step=None if step is None else int(step),
        rate=tokens if tokens is not None else values.get("samples_per_second"),
        unit="samples" if tokens is None else "tokens",
        seconds_left=integer(status, "estimatedRemainingSeconds"),
    )


def _number(words: str) -> float | None:
    try:
        value = float(words)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None
