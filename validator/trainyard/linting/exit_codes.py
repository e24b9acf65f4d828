"""Exit codes of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trainyard.linting.report import Report

CLEAN, FINDINGS, USAGE, NOTHING = range(4)
# Of a local run.
DONE, FAILED, MISSING = CLEAN, FINDINGS, NOTHING
BUG = 70
INTERRUPTED = 130
# A shell adds the number of the signal that ended a program.
BY_SIGNAL = 128


def exit_code(report: Report) -> int:
    """Returns the code for a report: if nothing was linted, the command does not succeed."""
    return NOTHING if report.nothing_linted else FINDINGS if report.findings else CLEAN
