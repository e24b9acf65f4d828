"""The table of faults, for a terminal and for the documentation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.table import Table

from tools import markdown, results_page
from tools.faults.faults import Fault
from tools.faults.measure import Result

RECORD = Path("build/faults.jsonl")
PAGE = Path("docs/trainer/faults.md")
COLUMNS = (
    *("fault", "s to the next step", "stock", "s without steps", "stock", "ours to stock"),
    *("steps lost", "stock", "restarts", "stock", "job afterwards", "stock"),
)

Row = Sequence[str]
# By the names of fault and runner.
Results = dict[tuple[str, str], Result]


def save_result(result: Result) -> None:
    """Append a result to the record, from which later calls take the newest result of each fault and runner."""
    RECORD.parent.mkdir(exist_ok=True)
    with RECORD.open("a") as file:
        file.write(json.dumps(asdict(result)) + "\n")


def load_results() -> Results:
    """Return the newest result of each fault and runner."""
    if not RECORD.exists():
        return {}
    results = (Result(**json.loads(line)) for line in RECORD.read_text().splitlines())
    return {(result.fault, result.runner): result for result in results}


def rows(faults: Sequence[Fault], results: Results) -> list[Row]:
    """Return a row for each measured fault."""
    return [
        _row(fault.what, results[fault.name, "ours"], results.get((fault.name, "stock")))
        for fault in faults
        if (fault.name, "ours") in results
    ]


def _row(what: str, ours: Result, stock: Result | None) -> Row:
    pairs = [cell(result) for cell in (_lost, _starts, _end) for result in (ours, stock)]
    times = [cell(result) for cell in (_seconds, _paused) for result in (ours, stock)]
    return (what, *times, _ratio(ours, stock), *pairs)


def reasons(faults: Sequence[Fault], results: Results) -> list[str]:
    """Return the reasons why runs did not recover."""
    whats = {fault.name: fault.what for fault in faults}
    return [
        f"{whats[name]}, {runner}: {result.reason}"
        for (name, runner), result in sorted(results.items())
        if result.reason and name in whats
    ]


def _seconds(result: Result | None) -> str:
    if result is None:
        return "not measured"
    if result.seconds is None:
        return "no"
    return f"{result.seconds:.1f}" if result.noticed else "goes on"


def _paused(result: Result | None) -> str:
    return "" if result is None or result.paused is None else f"{result.paused:.1f}"


def _ratio(mine: Result | None, stock: Result | None) -> str:
    if mine is None or stock is None or not (mine.paused and stock.paused):
        return ""
    return f"{mine.paused / stock.paused:.2f}"


def _lost(result: Result | None) -> str:
    return "" if result is None else "" if result.seconds is None else str(result.steps_lost)


def _starts(result: Result | None) -> str:
    return "" if result is None else str(result.restarts)


def _end(result: Result | None) -> str:
    return "" if result is None else result.end


def terminal_table(found: Sequence[Row]) -> Table:
    """Return the table for rich."""
    table = Table(*COLUMNS)
    for row in found:
        table.add_row(*row)
    return table


def write_page(found: Sequence[Row], notes: Sequence[str], where: str) -> None:
    """Write the table to its page, with the place of measurement and notes."""
    lines = [where, "", *markdown.table(COLUMNS, found)]
    if notes:
        lines += ["", *(f"- {note}" for note in notes)]
    results_page.write(PAGE, lines)
