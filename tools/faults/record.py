"""The record of all measurements, to which each call adds, and of which the newest of each fault fill the table."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from tools.faults.measure import Result

RECORD = Path("tools/faults/record.jsonl")
# Measurements of one fault and runner in the table.
COUNTED = 3

# By the names of fault and runner, the oldest first.
Results = dict[tuple[str, str], list[Result]]


def save_result(result: Result, day: str | None = None) -> None:
    """Append a result of today, or of another day in ISO 8601, to the record."""
    fields = {"day": day or datetime.now(UTC).date().isoformat(), **asdict(result)}
    rounded = {name: round(value, 2) if isinstance(value, float) else value for name, value in fields.items()}
    with RECORD.open("a") as file:
        file.write(json.dumps(rounded) + "\n")


def load_results() -> Results:
    """Return the newest results of each fault and runner."""
    return {key: [result for _, result in found] for key, found in _newest().items()}


def days() -> list[str]:
    """Return the days of these results, the oldest first."""
    return sorted({day for found in _newest().values() for day, _ in found})


def _newest() -> dict[tuple[str, str], deque[tuple[str, Result]]]:
    found: dict[tuple[str, str], deque[tuple[str, Result]]] = defaultdict(lambda: deque(maxlen=COUNTED))
    for line in RECORD.read_text().splitlines() if RECORD.exists() else ():
        fields = json.loads(line)
        day = fields.pop("day")
        result = Result(**fields)
        found[result.fault, result.runner].append((day, result))
    return found
