"""`trainyard lint` with names, and flags that make it stricter: for these calls reading options took the most time."""

from __future__ import annotations

import sys

FLAGS = ("--pedantic", "--auditor")


def lint(words: list[str]) -> int | None:
    """Lint these files and folders, print what is found, and return the exit code.

    None where there are other options, or where there is something else to say than findings; nothing was printed then,
    and the whole command line has to be called.
    """
    names = [word for word in words if word not in FLAGS]
    if not names or any(name.startswith("-") for name in names):
        return None
    from validator import exit_codes, reporters
    from validator.mistake import MistakeError
    from validator.session import Options, start

    try:
        run = start(tuple(names), Options(pedantic="--pedantic" in words, auditor="--auditor" in words))
        report = run.lint()
    except MistakeError:
        return None
    reporters.show("text", report, run.rules, "auto")
    sys.stdout.flush()
    return exit_codes.of(report)
