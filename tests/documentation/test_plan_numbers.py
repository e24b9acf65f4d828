"""Each number of the page about `trainyard plan` is in a section that a command writes from code and data."""

from __future__ import annotations

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "plan.md"
# `python -m tools.generate plan` writes the sections between markers, and a test compares them with the page.
_WRITTEN = re.compile(r"<!-- (?!end)([\w-]+) -->\n.*?<!-- end of \1 -->", re.S)
_CODE = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)", re.S)
_NUMBER = re.compile(
    r"(?<![A-Za-z\d])\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|half|twice|dozen)\b", re.I
)


def test_no_number_of_the_page_is_written_by_hand() -> None:
    prose = _CODE.sub("", _WRITTEN.sub("", PAGE.read_text()))
    assert [line for line in prose.splitlines() if _NUMBER.search(line)] == []


def test_the_sections_with_numbers_are_there() -> None:
    names = {found[1] for found in _WRITTEN.finditer(PAGE.read_text())}
    assert {"formulas", "constants", "states", "network", "checked", "history", "sums", "summary"} <= names
