"""The differences of two runs as text and as data."""

from __future__ import annotations

import difflib
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Any

from trainyard.commands.diff.comparison import Change
from trainyard.model.run import Run

VERSION = 1
Named = tuple[str, Run]


def text(one: Named, other: Named, changes: Sequence[Change]) -> str:
    """Returns the differences in words, by topics."""
    sides = f"{_titled(one)} and {_titled(other)}"
    if not changes:
        return f"{sides} mean the same.\n"
    lines = [f"{sides} differ in {len(changes)} {'place' if len(changes) == 1 else 'places'}."]
    for topic, same in itertools.groupby(changes, key=lambda change: change.topic):
        lines += ["", topic]
        for change in same:
            lines += [f"  {line}" for line in _lines(change)]
    return "\n".join(lines) + "\n"


def tree(one: Named, other: Named, changes: Sequence[Change]) -> dict[str, Any]:
    """Returns the differences as data for JSON."""
    sides = ({"source": name, "kind": run.kind, "name": run.name} for name, run in (one, other))
    found = [{**change._asdict(), "roles": list(change.roles)} for change in changes]
    return {"version": VERSION, "before": next(sides), "after": next(sides), "same": not found, "changes": found}


def _titled(side: Named) -> str:
    name, run = side
    return f"{'standard input' if name == '-' else name} ({run.kind} {run.name})"


def _lines(change: Change) -> Iterator[str]:
    name = f"{change.name} of {', '.join(change.roles)}" if any(change.roles) else change.name
    before, after = (None if value is None else _shown(value) for value in (change.before, change.after))
    if before is None:
        yield from _one_side(name, "added", after or "")
    elif after is None:
        yield from _one_side(name, "removed", before)
    elif "\n" in before or "\n" in after:
        yield f"{name}:"
        compared = difflib.ndiff(before.splitlines(), after.splitlines())
        yield from (f"  {line}" for line in compared if line.startswith(("- ", "+ ")))
    else:
        yield f"{name}: `{before}` became `{after}`"


def _one_side(name: str, verb: str, value: str) -> Iterator[str]:
    if "\n" not in value:
        yield f"{name}: {verb}, `{value}`"
        return
    yield f"{name}: {verb}"
    yield from (f"  {line}" for line in value.splitlines())


def _shown(value: Any) -> str:
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return " ".join(value)
    return json.dumps(value, sort_keys=True, default=str) if isinstance(value, dict | list | bool) else str(value)
