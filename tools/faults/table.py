"""The table of faults, for a terminal and for the documentation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median

from rich.table import Table

from tools import markdown, results_page
from tools.faults.faults import Fault
from tools.faults.measure import Result
from tools.faults.record import Results

PAGE = Path("docs/trainer/faults.md")
COLUMNS = (
    *("fault", "s to the next step", "stock", "s without steps", "stock", "ours to stock"),
    *("s until both pods train", "stock", "steps/s meanwhile", "stock", "steps lost", "stock", "restarts", "stock"),
)

Row = Sequence[str]
# What a result says in one cell: a number, or words.
Cell = Callable[[Result], float | str]


def rows(faults: Sequence[Fault], results: Results) -> list[Row]:
    """Return a row for each measured fault."""
    return [
        _row(fault.what, results[fault.name, "ours"], results.get((fault.name, "stock"), []))
        for fault in faults
        if (fault.name, "ours") in results
    ]


def _row(what: str, ours: Sequence[Result], stock: Sequence[Result]) -> Row:
    seconds, stock_seconds, *others = (
        _merged(list(map(cell, found)), spec) for cell, spec in CELLS for found in (ours, stock)
    )
    return (what, seconds, stock_seconds or "not measured", *others[:2], _ratio(ours, stock), *others[2:])


def _merged(values: Sequence[float | str], spec: str) -> str:
    """Returns the text of a cell: of numbers the median, and the range unless it is empty; of words their counts."""
    numbers = [value for value in values if not isinstance(value, str)]
    words = Counter(value for value in values if isinstance(value, str) and value)
    if not numbers and len(words) == 1 and words.total() == len(values):
        return next(iter(words))
    texts = [f"{count} of {len(values)} {word}" for word, count in words.items()]
    if numbers:
        low, high = f"{min(numbers):{spec}}", f"{max(numbers):{spec}}"
        texts.insert(0, f"{median(numbers):{spec}}" + (f" ({low} to {high})" if low != high else ""))
    return ", ".join(texts)


def reasons(faults: Sequence[Fault], results: Results) -> list[str]:
    """Return the reasons why runs did not recover, and the states of jobs that do not run any more."""
    whats = {fault.name: fault.what for fault in faults}
    found = [
        f"{whats[name]}, {runner}: {reason}"
        for (name, runner), measured in sorted(results.items())
        for result in measured
        for reason in (result.reason, "" if result.end == "running" else f"the job is {result.end} afterwards")
        if reason and name in whats
    ]
    return list(dict.fromkeys(found))


def measurements(faults: Sequence[Fault], results: Results) -> str:
    """Return how often the faults were measured."""
    names = {fault.name for fault in faults}
    counts = sorted({len(measured) for (name, _), measured in results.items() if name in names})
    if not counts or counts == [1]:
        return "one measurement each"
    return f"{' to '.join(map(str, sorted({counts[0], counts[-1]})))} measurements each"


def period(days: Sequence[str]) -> list[str]:
    """Return the days of the results, if there are several: the date of a table is that of its last call."""
    return [f"measured from {days[0]} to {days[-1]}"] if len(days) > 1 else []


def _seconds(result: Result) -> float | str:
    if result.seconds is None:
        return "no"
    return result.seconds if result.noticed else "goes on"


def _paused(result: Result) -> float | str:
    return "" if result.paused is None else result.paused


def _ratio(ours: Sequence[Result], stock: Sequence[Result]) -> str:
    mine, theirs = ([found.paused for found in measured if found.paused is not None] for measured in (ours, stock))
    if not (mine and theirs and median(mine) and median(theirs)):
        return ""
    return f"{median(mine) / median(theirs):.2f}"


def _lost(result: Result) -> float | str:
    return "" if result.seconds is None else result.steps_lost


def _starts(result: Result) -> float | str:
    return result.restarts


def _recovered(result: Result) -> float | str:
    return "" if result.recovered is None else result.recovered


def _rate(result: Result) -> float | str:
    return "" if result.rate is None else result.rate


# After the functions: what each pair of columns says, and how its numbers are written.
CELLS: tuple[tuple[Cell, str], ...] = (
    *((cell, ".1f") for cell in (_seconds, _paused, _recovered, _rate)),
    *((cell, "g") for cell in (_lost, _starts)),
)


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
