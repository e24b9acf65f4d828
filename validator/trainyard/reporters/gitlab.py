"""GitLab's code quality report."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.linting.fingerprint import fingerprints, path

if TYPE_CHECKING:
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report
    from trainyard.reporters import Style

_SEVERITIES = {"error": "major", "warning": "minor", "info": "info"}


def render(report: Report, rules: Sequence[Rule], style: Style) -> str:  # noqa: ARG001
    """Returns a list of violations."""
    violations = [
        {
            "description": f"{finding.message}; {finding.help}" if finding.help else finding.message,
            "check_name": finding.rule.name,
            "fingerprint": mark,
            "severity": _SEVERITIES[finding.rule.severity],
            "location": {
                "path": path(finding),
                "lines": {"begin": finding.position.line},
            },
        }
        for finding, mark in fingerprints(report.findings)
    ]
    return json.dumps(violations, indent=2) + "\n"
