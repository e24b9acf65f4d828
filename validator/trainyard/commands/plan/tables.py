"""The data files of this package, and names that are looked up in them."""

from __future__ import annotations

import csv
import functools
from collections.abc import Collection
from pathlib import Path

from trainyard.commands.plan.errors import PlanError
from trainyard.engine.suggestions import closest_match


@functools.cache
def rows(name: str) -> tuple[dict[str, str], ...]:
    """Returns the rows of `NAME.csv`."""
    with (Path(__file__).parent / f"{name}.csv").open(encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def names(table: str) -> tuple[str, ...]:
    """Returns the names in a table."""
    return tuple(row["name"] for row in rows(table))


def row(table: str, name: str, what: str) -> dict[str, str]:
    """Returns the row with this name. Raises `PlanError` with a suggestion if there is none."""
    for found in rows(table):
        if found["name"] == name:
            return found
    raise unknown(what, name, names(table))


def unknown(what: str, name: str, known: Collection[str]) -> PlanError:
    """Returns the error for a name that is not known."""
    near = closest_match(name, known, 0.5)
    hint = f"did you mean `{near}`?" if near is not None else f"write one of {', '.join(known)}"
    return PlanError(f"there is no {what} `{name}`; {hint}")
