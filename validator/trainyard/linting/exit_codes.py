"""Exit codes of the commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.engine.rule import SEVERITIES

if TYPE_CHECKING:
    from trainyard.linting.config import Config
    from trainyard.linting.report import Report

CLEAN, FINDINGS, USAGE, NOTHING = range(4)
# Of a local run.
DONE, FAILED, MISSING = CLEAN, FINDINGS, NOTHING
BUG = 70
INTERRUPTED = 130
# A shell adds the number of the signal that ended a program.
BY_SIGNAL = 128


def exit_code(report: Report, config: Config | None = None) -> int:
    """Returns the code for a report: if nothing was linted, the command does not succeed, whatever the options are."""
    if report.nothing_linted:
        return NOTHING
    if config is not None and config.exit_zero:
        return CLEAN
    grave = SEVERITIES[: SEVERITIES.index(config.fail_on) + 1] if config is not None else SEVERITIES
    return FINDINGS if any(finding.rule.severity in grave for finding in report.findings) else CLEAN
