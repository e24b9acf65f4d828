"""Workflow commands, which GitHub shows as annotations of the lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from trainyard.linting.fingerprint import relative

if TYPE_CHECKING:
    from trainyard.engine.finding import Finding
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report
    from trainyard.reporters import Style

_COMMANDS = {"error": "error", "warning": "warning", "info": "notice"}


def render(report: Report, rules: Sequence[Rule], style: Style) -> str:  # noqa: ARG001
    """Returns a command for each finding."""
    return "".join(f"{_command(finding)}\n" for finding in report.findings)


def _command(finding: Finding) -> str:
    position = finding.position
    properties = {
        "file": relative(position.source.name),
        "line": position.line,
        "col": position.column,
        "endLine": position.end_line,
        "endColumn": position.end_column,
        "title": f"{finding.rule.code} {finding.rule.name}",
    }
    if position.line != position.end_line:
        # GitHub refuses columns of an annotation that spans lines.
        del properties["col"], properties["endColumn"]
    written = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in properties.items())
    message = f"{finding.message}\n{finding.help}" if finding.help else finding.message
    return f"::{_COMMANDS[finding.rule.severity]} {written}::{_escaped(message)}"


def _escaped(text: str, besides: str = "") -> str:
    for letter in f"%\r\n{besides}":
        text = text.replace(letter, f"%{ord(letter):02X}")
    return text
