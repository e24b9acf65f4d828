"""What the command's exit code says."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from validator.linting import Report

CLEAN, FINDINGS, USAGE, NOTHING = range(4)
# Of a local run.
DONE, FAILED, MISSING = CLEAN, FINDINGS, NOTHING
BUG = 70
INTERRUPTED = 130
# A shell adds the number of the signal that has ended a program.
BY_SIGNAL = 128


def of(report: Report) -> int:
    """The code for a report: an empty match is never green."""
    return NOTHING if report.nothing_linted else FINDINGS if report.findings else CLEAN
