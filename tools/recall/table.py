"""Recall as tables: overall, by class and by project."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from tests.validator.field.measuring import Result, recall
from tests.validator.field.reading import Case
from tools import markdown

COLUMNS = ("mistakes", "found", "recall", "out of reach")


def rows(results: Sequence[Result], key: Callable[[Case], str]) -> Iterator[tuple[str, ...]]:
    """Yields a row for each value of the key, and one for all cases."""
    for name in sorted({key(result.case) for result in results}):
        yield _row(name, [result for result in results if key(result.case) == name])
    yield _row("all", results)


def _row(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    found, counted = recall(results)
    beyond = len(results) - counted
    return name, str(counted), str(found), f"{found / counted:.0%}" if counted else "", str(beyond or "")


def page(results: Sequence[Result]) -> Iterator[str]:
    """Yields the tables of the documentation: by class, by project, and the mistakes that no file shows."""
    yield from markdown.table(("class", *COLUMNS), rows(results, lambda case: case.group))
    yield ""
    yield from markdown.table(("project", *COLUMNS), rows(results, lambda case: case.project))
    yield ""
    beyond = [result.case for result in results if result.case.out_of_reach]
    yield from markdown.table(
        ("out of reach", "mistake", "reason"),
        ((f"[{case.name}]({case.link})", case.mistake, case.out_of_reach) for case in beyond),
    )
