"""The plan of a run beside what its log measured."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trainyard.commands.plan.estimate import Plan, plan
from trainyard.commands.plan.job import job_in
from trainyard.commands.plan.report import duration, size
from trainyard.commands.plan.settings import Given, settings
from trainyard.commands.report.history import History
from trainyard.document.document import Document
from trainyard.document.errors import MistakeError
from trainyard.model.site import Site

_GIB = 1 << 30


class Row(NamedTuple):
    """A quantity: what the plan expects, with its range, and what the log says; empty if it says nothing."""

    name: str
    expected: str
    measured: str
    is_outside: bool


class Comparison(NamedTuple):
    """The plan beside the measurements. Without a plan, `reason` says what it lacks."""

    rows: tuple[Row, ...] = ()
    reason: str = ""


def compare(documents: Sequence[Document], site: Site | None, given: Given, history: History, name: str) -> Comparison:
    """Returns the comparison for the run in these documents."""
    try:
        chosen = settings(given, job_in(documents, site, name))
        made = plan(chosen.shape, chosen.layout, chosen.gpu, chosen.fabric, chosen.conditions)
    except MistakeError as error:
        return Comparison(reason=str(error))
    return Comparison(tuple(_rows(made, history)))


def _rows(made: Plan, history: History) -> Iterator[Row]:
    best, expected, worst = made.step
    took = history.step_seconds
    yield Row(
        "time of a step",
        f"{duration(best)} to {duration(worst)}, expected {duration(expected)}",
        "" if took is None else duration(took),
        took is not None and took > worst,
    )
    tokens = made.layout.tokens_per_step
    rate = history.median("tokens_per_second")
    yield Row(
        "tokens per second",
        f"{tokens / worst:,.0f} to {tokens / best:,.0f}, expected {tokens / expected:,.0f}",
        "" if rate is None else f"{rate:,.0f}",
        rate is not None and rate < tokens / worst,
    )
    mfu = history.median("mfu")
    yield Row("model FLOPs utilization", f"{made.mfu:.0%}", "" if mfu is None else f"{mfu:.0%}", is_outside=False)
    peak = max((value for _, value in history.values("gpu_peak_gib")), default=None)
    yield Row(
        "memory of a GPU",
        f"{size(made.memory.total)} of {size(made.gpu.memory)}",
        "" if peak is None else size(peak * _GIB),
        peak is not None and peak * _GIB > 1.1 * made.memory.total,
    )
