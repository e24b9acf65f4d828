"""What was measured, onto a page of the documentation, with where it was measured."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tests import markdown


def where(*versions: str, command: str) -> str:
    """The day, the machine, the versions of what was measured, and the command that did it."""
    described = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in described if line.startswith("model name")]
    machine = f"{len(os.sched_getaffinity(0))} processors ({names[0] if names else platform.machine()})"
    today = datetime.now(UTC).date().isoformat()
    return f"{', '.join([today, machine, *versions])}, Linux {platform.release()}, `{command}`:"


def write(page: Path, lines: Iterable[str]) -> None:
    """Replace the table of a page."""
    page.write_text(markdown.filled(page.read_text(), "table", lines))
