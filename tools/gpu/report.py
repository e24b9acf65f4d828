"""The report: `gpu.json` for programs, and `gpu.md` for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tools import markdown
from tools.gpu.check import Measured, Outcome, Result
from tools.gpu.machine import Machine

# Raised when a field is renamed or removed.
FORMAT = 1
COLUMNS = ("check", "outcome", "s", "measured, or the reason")


def write(folder: Path, machine: Machine, results: Sequence[Result], command: str) -> None:
    """Writes both files."""
    folder.mkdir(parents=True, exist_ok=True)
    now = datetime.now(UTC).isoformat(timespec="seconds")
    document = as_json(machine, results, time=now, command=command)
    (folder / "gpu.json").write_text(json.dumps(document, indent=2) + "\n")
    page = as_markdown(machine, results, time=now, command=command)
    (folder / "gpu.md").write_text("\n".join(page) + "\n")


def as_json(machine: Machine, results: Sequence[Result], *, time: str, command: str) -> dict[str, Any]:
    """Returns the report for programs."""
    return {
        "format": FORMAT,
        "time": time,
        "command": command,
        "rehearsal": machine.device == "cpu",
        "machine": asdict(machine),
        "counts": count(results),
        "checks": [_check_as_json(result) for result in results],
    }


def as_markdown(machine: Machine, results: Sequence[Result], *, time: str, command: str) -> Iterator[str]:
    """Yields the lines of the page."""
    yield "# Acceptance of a machine with GPUs"
    yield ""
    if machine.device == "cpu":
        yield "**Rehearsal with gloo on processors: it says nothing about GPUs or NCCL.**"
        yield ""
    yield ", ".join(f"{number} {outcome}" for outcome, number in count(results).items()) + f". {time}, `{command}`."
    yield ""
    yield from markdown.table(("machine", ""), _machine_rows(machine))
    yield ""
    yield from markdown.table(COLUMNS, [_row(result) for result in results])
    yield ""
    yield "## Bars"
    yield ""
    for result in results:
        yield f"- `{result.check.name}`: {result.check.what}. Bar: {result.check.bar}."


def count(results: Sequence[Result]) -> dict[str, int]:
    """Returns the number of checks with each outcome."""
    found = Counter(result.outcome for result in results)
    return {outcome.value: found[outcome] for outcome in Outcome}


def summary(measured: Measured) -> str:
    """Returns what was measured as text."""
    return ", ".join(f"{name}={_text(value)}" for name, value in measured.items())


def _text(value: float | str) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _check_as_json(result: Result) -> dict[str, Any]:
    check = result.check
    return {
        "name": check.name,
        "what": check.what,
        "bar": check.bar,
        "needs": {"gpus": check.gpus, "packages": list(check.packages)},
        "outcome": result.outcome.value,
        "reason": result.reason,
        "measured": dict(result.measured),
        "seconds": round(result.seconds, 2),
        "log": str(result.log) if result.log else None,
    }


def _machine_rows(machine: Machine) -> list[tuple[str, str]]:
    names = ", ".join(f"{number} x {name}" for name, number in Counter(machine.names).items())
    rows = [
        ("GPUs", names or "none"),
        ("driver", machine.driver),
        ("CUDA", machine.cuda),
        ("NCCL", machine.nccl),
        ("torch", machine.torch),
        ("Python", machine.python),
        ("system", machine.system),
    ]
    return [(name, value or "unknown") for name, value in rows]


def _row(result: Result) -> tuple[str, ...]:
    said = result.reason or summary(result.measured)
    log = f" (log: `{result.log}`)" if result.log else ""
    # A pipe would end the cell.
    return (f"`{result.check.name}`", result.outcome.value, f"{result.seconds:.1f}", (said + log).replace("|", "\\|"))
