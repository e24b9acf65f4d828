"""What is found, for people and for programs. Each format is a module with `render`, imported when it is asked for."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from validator.linting import Report
    from validator.rule import Rule


class Style(NamedTuple):
    """How text for people looks; other formats have their own rules."""

    color: bool = False
    statistics: bool = False


def wants_color(choice: str, *, on_terminal: bool) -> bool:
    """Whether text is coloured: as asked for, else on a terminal where nobody objects (https://no-color.org)."""
    if choice != "auto":
        return choice == "always"
    return on_terminal and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show(name: str, report: Report, rules: Sequence[Rule], color: str, *, statistics: bool = False) -> None:
    """Print the report, coloured as asked for, with whatever the terminal's encoding can show."""
    style = Style(color=wants_color(color, on_terminal=sys.stdout.isatty()), statistics=statistics)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(render(name, report, rules, style).encode(encoding, "backslashreplace").decode(encoding))


def render(name: str, report: Report, rules: Sequence[Rule], style: Style) -> str:
    """The report in a format; `rules` are those that were on."""
    text: str = importlib.import_module(f"validator.reporters.{name}").render(report, rules, style)
    return text
