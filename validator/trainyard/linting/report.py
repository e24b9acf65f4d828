"""The report of a lint run, and the files that it covers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trainyard.engine.finding import Finding
from trainyard.startup import NamedTuple

if TYPE_CHECKING:
    from trainyard.model.run import Project


class Report(NamedTuple):
    """The data for all reporters. `allowed` are suppressed findings, with the reason for each.

    `notes` name the files and charts that were not checked, with the reason for each. `unchecked` is the number of
    files whose objects no rule is about.
    """

    findings: tuple[Finding, ...]
    allowed: tuple[tuple[Finding, str], ...]
    files: tuple[str, ...]
    project: Project
    baselined: int = 0
    notes: tuple[str, ...] = ()
    unchecked: int = 0

    @property
    def nothing_linted(self) -> bool:
        """True if a file or folder held nothing to lint: neither a success nor a mistake in a text."""
        return any(finding.rule.name == "nothing-linted" for finding in self.findings)
