"""Tables of measurements on pages of the documentation, between two marks."""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path

BEGIN, END = "<!-- table -->", "<!-- end of table -->"


def machine() -> str:
    """The machine that was measured on."""
    described = Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":")[1].strip() for line in described if line.startswith("model name")]
    return f"{len(os.sched_getaffinity(0))} processors ({names[0] if names else platform.machine()})"


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """The lines of a table in Markdown."""
    return [f"| {' | '.join(cells)} |" for cells in (columns, ["---"] * len(columns), *rows)]


def write(page: Path, lines: Iterable[str]) -> None:
    """Replace what the page has between its marks."""
    before, rest = page.read_text().split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n" + "\n".join(lines) + f"\n{END}" + rest.split(END)[1])
