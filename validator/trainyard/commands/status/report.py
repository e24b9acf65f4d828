"""The state of a run as text, and as a tree for JSON."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.commands.status.progress import Progress
from trainyard.commands.status.replicas import Replica
from trainyard.commands.status.snapshot import name, namespace
from trainyard.commands.status.verdict import Verdict
from trainyard.document.lookup import text

VERSION = 1
_NONE = "-"
_COLUMNS = (
    *("RANK", "POD", "NODE", "RAILS", "PHASE", "RESTARTS"),
    *("STEP", "SPEED", "PACE", "CHECKPOINT", "ETA"),
)


# What a narrow terminal leaves out, in this order.
_LEFT_OUT = ("RAILS", "NODE", "ETA", "RESTARTS", "CHECKPOINT")


def lines(verdict: Verdict, now: datetime.datetime, width: int | None = None) -> Iterator[str]:
    """Returns the lines of the report: the headline, the next step, and a row for each pod.

    With a `width`, columns of the table are left out until it fits.
    """
    yield verdict.title
    yield verdict.headline
    found = progress_words(verdict.progress, now)
    if verdict.state == "running" and found:
        yield found
    yield from (f"  | {detail}" for detail in verdict.details)
    if verdict.next:
        yield f"next: {verdict.next}"
    if verdict.replicas:
        yield ""
        yield from _fitting([_row(replica, now) for replica in verdict.replicas], width)


def _fitting(rows: Sequence[Sequence[str]], width: int | None) -> list[str]:
    found = list(table(_COLUMNS, rows))
    for count in range(1, len(_LEFT_OUT) + 1):
        if width is None or max(map(len, found)) <= width:
            break
        kept = [at for at, column in enumerate(_COLUMNS) if column not in _LEFT_OUT[:count]]
        found = list(table([_COLUMNS[at] for at in kept], [[row[at] for at in kept] for row in rows]))
    return found


def progress_words(progress: Progress, now: datetime.datetime) -> str:
    """Returns speed, remaining time, age of the last checkpoint and ETTR in words, empty if none is known."""
    found = [speed(progress)] if progress.rate is not None else []
    if progress.seconds_left is not None:
        found.append(f"about {duration(progress.seconds_left)} left")
    if progress.checkpoint is not None:
        found.append(f"last checkpoint {duration(now.timestamp() - progress.checkpoint)} ago")
    if progress.ettr is not None:
        found.append(f"{progress.ettr:.0%} of the time effective")
    return ", ".join(found)


def overview(verdicts: Sequence[Verdict], now: datetime.datetime) -> Iterator[str]:
    """Returns a row for each run."""
    columns = ("NAMESPACE", "RUN", "PODS", "AGE", "STATE")
    yield from table(columns, [_overview_row(verdict, now) for verdict in verdicts])


def _overview_row(verdict: Verdict, now: datetime.datetime) -> Sequence[str]:
    pods = f"{sum(1 for replica in verdict.replicas if replica.runs)}/{verdict.expected or len(verdict.replicas)}"
    run = f"{verdict.kind.lower()}/{name(verdict.job)}"
    return namespace(verdict.job), run, pods, _age(verdict, now), verdict.headline


def _age(verdict: Verdict, now: datetime.datetime) -> str:
    created = text(verdict.job, "metadata", "creationTimestamp")
    return duration((now - datetime.datetime.fromisoformat(created)).total_seconds()) if created else _NONE


def _row(replica: Replica, now: datetime.datetime) -> Sequence[str]:
    found = replica.progress
    pace = _NONE if replica.pace is None else f"{replica.pace:.0%}{' slowest' if replica.is_slowest else ''}"
    return (
        replica.rank or replica.role or _NONE,
        replica.name,
        replica.node or _NONE,
        ",".join(replica.addresses) or _NONE,
        replica.phase,
        str(replica.restarts),
        _NONE if found.step is None else f"{found.step:,}",
        speed(found) or _NONE,
        pace,
        _NONE if found.checkpoint is None else duration(now.timestamp() - found.checkpoint),
        _NONE if found.seconds_left is None else duration(found.seconds_left),
    )


def speed(progress: Progress) -> str:
    """Returns samples or tokens per second, empty if the rate is not known."""
    return "" if progress.rate is None else f"{progress.rate:,.0f} {progress.unit}/s"


def duration(seconds: float) -> str:
    """Returns a time in its two largest units, such as 1d3h, 27m40s or 7s."""
    left = max(0, int(seconds))
    parts: list[str] = []
    for letter, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        count, left = divmod(left, size)
        if count or parts:
            parts.append(f"{count}{letter}")
    return "".join(part for part in parts[:2] if not part.startswith("0")) or "0s"


def table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Returns the lines of a table, in the form of kubectl."""
    widths = [max(len(row[at]) for row in (columns, *rows)) for at in range(len(columns))]
    for row in (columns, *rows):
        yield "   ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def tree(verdict: Verdict, now: datetime.datetime) -> dict[str, Any]:
    """Returns the report for programs."""
    return {
        "run": {
            "kind": verdict.kind,
            "apiVersion": text(verdict.job, "apiVersion"),
            "namespace": namespace(verdict.job),
            "name": name(verdict.job),
        },
        "state": verdict.state,
        "headline": verdict.headline,
        "details": list(verdict.details),
        "next": verdict.next or None,
        "blocked": verdict.is_blocked,
        "expected_pods": verdict.expected,
        "progress": _progress(verdict.progress, now),
        "pods": [_pod(replica, now) for replica in verdict.replicas],
        "failures": [failure._asdict() for failure in verdict.failures],
    }


def _pod(replica: Replica, now: datetime.datetime) -> dict[str, Any]:
    return {
        "pod": replica.name,
        "role": replica.role or None,
        "ranks": list(replica.ranks) if replica.ranks is not None else None,
        "node": replica.node or None,
        "rails": dict(address.split("=", 1) for address in replica.addresses),
        "phase": replica.phase,
        "restarts": replica.restarts,
        "pace": replica.pace,
        "slowest": replica.is_slowest,
        **_progress(replica.progress, now),
    }


def _progress(progress: Progress, now: datetime.datetime) -> dict[str, Any]:
    checkpoint = None if progress.checkpoint is None else round(now.timestamp() - progress.checkpoint, 1)
    return {
        "step": progress.step,
        "steps": progress.steps,
        "rate": progress.rate,
        "unit": f"{progress.unit}/s" if progress.rate is not None else None,
        "seconds_left": progress.seconds_left,
        "checkpoint_age_seconds": checkpoint,
        "ettr": progress.ettr,
    }
