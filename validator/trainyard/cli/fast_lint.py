"""The fast path of `trainyard lint`, for calls with names and simple flags: parsing options took most of their time."""

from __future__ import annotations

import sys

FLAGS = ("--pedantic", "--auditor")


def lint_fast(words: list[str]) -> int | None:
    """Lints these files and folders, prints the findings, and returns the exit code.

    Returns None, and has printed nothing, if there are other options or anything to report beside findings. The full
    command line must then be called.
    """
    names = [word for word in words if word not in FLAGS]
    if not names or any(name.startswith("-") for name in names):
        return None
    from trainyard import reporters
    from trainyard.document.errors import MistakeError
    from trainyard.linting import exit_codes
    from trainyard.linting.session import Options, start_session

    try:
        run = start_session(tuple(names), Options(pedantic="--pedantic" in words, auditor="--auditor" in words))
        report = run.lint()
    except MistakeError:
        return None
    if run.notes or report.notes:
        from trainyard.reporters.text import notes

        sys.stderr.write(notes(report._replace(notes=run.notes)) + notes(report))
    reporters.show("text", report, run.rules, "auto")
    sys.stdout.flush()
    return exit_codes.exit_code(report, run.config)
