"""The record of all measurements, from which calls of another day fill the table too."""

from __future__ import annotations

import json
from dataclasses import asdict
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
    if not RECORD.exists():
        return {}
    results: Results = {}
    calls: dict[tuple[str, str], float] = {}
    for number, line in enumerate(RECORD.read_text().splitlines()):
        fields = json.loads(line)
        # Records of before there were several measurements per call have none; the last line counts.
        call = fields.pop("call", number)
        result = Result(**fields)
        key = result.fault, result.runner
        if calls.get(key) != call:
            results[key] = []
        calls[key] = call
        results[key].append(result)
    return results
