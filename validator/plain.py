"""`trainyard lint` with nothing but names: the commonest call, for which reading options would take the most time."""

from __future__ import annotations

import sys


def lint(names: list[str]) -> int | None:
    """Lint these files and folders, print what is found, and return the exit code.

    None where there is something else to say than findings; nothing was printed then, and the whole command line has to
    be called.
    """
    from validator.mistake import MistakeError
    from validator.reporters import Style, render, wants_color
    from validator.session import start

    try:
        run = start(tuple(names))
        report = run.lint()
    except MistakeError:
        return None
    style = Style(color=wants_color("auto", on_terminal=sys.stdout.isatty()))
    text = render("text", report, run.rules, style)
    encoding = sys.stdout.encoding or "utf-8"
    sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
    sys.stdout.flush()
    return 3 if report.nothing_linted else 1 if report.findings else 0
