"""`trainyard lint` with nothing but names: the commonest call, for which reading options would take the most time."""

from __future__ import annotations

import sys


def lint(names: list[str]) -> int | None:
    """Lint these files and folders, print what is found, and return the exit code.

    None where there is something else to say than findings; nothing was printed then, and the whole command line has to
    be called.
    """
    from validator import exit_codes, reporters
    from validator.mistake import MistakeError
    from validator.session import start

    try:
        run = start(tuple(names))
        report = run.lint()
    except MistakeError:
        return None
    reporters.show("text", report, run.rules, "auto")
    sys.stdout.flush()
    return exit_codes.of(report)
