"""The log cases of the causes: their headers, and the log without them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from trainyard.commands.doctor import causes

FOLDER = Path(causes.__file__).parent / "cases"
_HEADER = re.compile(r"# (source|expect|first): (.+)\n")


class LogCase(NamedTuple):
    """A log with the causes that it shows, and the rank or pod that failed first."""

    name: str
    source: str
    expected: frozenset[str]
    first: str | None
    log: str


def read(path: Path) -> LogCase:
    """Returns a case."""
    text, headers = path.read_text(), {}
    while found := _HEADER.match(text):
        headers[found[1]] = found[2]
        text = text[found.end() :]
    expected = frozenset(filter(None, headers.get("expect", "").split(", ")))
    return LogCase(path.name, headers["source"], expected, headers.get("first"), text)


def cases(folder: Path = FOLDER) -> list[LogCase]:
    """Returns all cases."""
    return [read(path) for path in sorted(folder.glob("*.log"))]
