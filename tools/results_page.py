"""Measurements on a page of the documentation, with the date and the machine."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from tools import markdown


def environment(*versions: str, command: str) -> str:
    """Return the date, the machine, the measured versions, and the command that measures."""
    described = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in described if line.startswith("model name")]
    machine = f"{len(os.sched_getaffinity(0))} processors ({names[0] if names else platform.machine()})"
    today = datetime.now(UTC).date().isoformat()
    return f"{', '.join([today, machine, *versions])}, Linux {platform.release()}, `{command}`:"


def write(page: Path, lines: Iterable[str]) -> None:
    """Replace the table of a page."""
    page.write_text(markdown.replace_section(page.read_text(), "table", lines))
