"""The record of all measurements, from which calls of another day fill the table too."""

from __future__ import annotations

import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path

from tools.faults.measure import Result

RECORD = Path("build/faults.jsonl")

# By the names of fault and runner.
Results = dict[tuple[str, str], list[Result]]


def save_result(result: Result, call: float) -> None:
    """Append a result to the record; `call` is the same for all results of one call of the command."""
    RECORD.parent.mkdir(exist_ok=True)
    with RECORD.open("a") as file:
        file.write(json.dumps({"call": call, **asdict(result)}) + "\n")


def load_results() -> Results:
    """Return the results of the newest call that measured a fault and runner, for each of them."""
    return {key: results for key, (_, results) in _newest_calls().items()}


def days() -> list[str]:
    """Return the days of these calls, the oldest first."""
    calls = {call for call, _ in _newest_calls().values() if call is not None}
    return sorted({datetime.fromtimestamp(call, UTC).date().isoformat() for call in calls})


def _newest_calls() -> dict[tuple[str, str], tuple[float | None, list[Result]]]:
    found: dict[tuple[str, str], tuple[float | None, list[Result]]] = {}
    for line in RECORD.read_text().splitlines() if RECORD.exists() else ():
        fields = json.loads(line)
        # Records of before there were several measurements per call have none; the last line counts.
        call = fields.pop("call", None)
        result = Result(**fields)
        key = result.fault, result.runner
        earlier = found[key][1] if call is not None and key in found and found[key][0] == call else []
        found[key] = call, [*earlier, result]
    return found
