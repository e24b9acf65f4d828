"""Reports for people and for programs. Each format is a module with `render`, imported on first use."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report


class Style(NamedTuple):
    """The style of text for people; other formats have their own rules."""

    color: bool = False
    statistics: bool = False
    links: bool = False


def wants_color(choice: str, *, on_terminal: bool) -> bool:
    """True if text is coloured: as chosen, else by NO_COLOR, FORCE_COLOR and CLICOLOR_FORCE, else on a terminal.

    Sources: https://no-color.org, https://force-color.org, https://bixense.com/clicolors.
    """
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if any(os.environ.get(name, "") not in ("", "0", "false") for name in ("FORCE_COLOR", "CLICOLOR_FORCE")):
        return True
    return on_terminal and os.environ.get("TERM") != "dumb"


def show(name: str, report: Report, rules: Sequence[Rule], color: str, *, statistics: bool = False) -> None:
    """Prints the report, coloured as chosen, with the characters that the terminal's encoding can show."""
    on_terminal = sys.stdout.isatty()
    colored = wants_color(color, on_terminal=on_terminal)
    # A log that is coloured by force is no terminal, and shows the escapes of a link.
    style = Style(color=colored, statistics=statistics, links=colored and on_terminal)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(render(name, report, rules, style).encode(encoding, "backslashreplace").decode(encoding))


def render(name: str, report: Report, rules: Sequence[Rule], style: Style) -> str:
    """Returns the report in a format; `rules` are those that were on."""
    text: str = importlib.import_module(f"trainyard.reporters.{name}").render(report, rules, style)
    return text
