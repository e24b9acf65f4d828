"""JSON for programs. Its schema is `schemas/finding.schema.json`: fields are only ever added."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from trainyard import __version__
from trainyard.engine.links import rule_url
from trainyard.linting.fingerprint import fingerprints, relative

if TYPE_CHECKING:
    from trainyard.document.source import Position
    from trainyard.engine.finding import Finding
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report
    from trainyard.reporters import Style

VERSION = 1


def render(report: Report, rules: Sequence[Rule], style: Style) -> str:  # noqa: ARG001
    """Returns the findings with all of their fields."""
    allowed = zip(fingerprints(finding for finding, _ in report.allowed), report.allowed, strict=True)
    data = {
        "version": VERSION,
        "trainyard": __version__,
        "files": [relative(name) for name in report.files],
        "findings": [_finding(finding, mark) for finding, mark in fingerprints(report.findings)],
        "allowed": [{**_finding(finding, mark), "reason": reason} for (finding, mark), (_, reason) in allowed],
        "baselined": report.baselined,
        "notes": list(report.notes),
    }
    return json.dumps(data, indent=2) + "\n"


def rule_facts(rule: Rule) -> dict[str, Any]:
    """Returns a rule as programs see it."""
    from trainyard.engine import parameters, registry

    return {
        "code": rule.code,
        "name": rule.name,
        "title": registry.page(rule).split("\n", 1)[0],
        "severity": rule.severity,
        "confidence": rule.confidence,
        "persona": rule.persona,
        "since": rule.since,
        "url": rule_url(rule),
        "fix": rule.fix,
        "sources": list(rule.sources),
        "parameters": {name.replace("_", "-"): value for name, value in parameters.default_parameters(rule).items()},
    }


def _finding(finding: Finding, mark: str) -> dict[str, Any]:
    return {
        "rule": finding.rule.code,
        "name": finding.rule.name,
        "url": rule_url(finding.rule),
        "severity": finding.rule.severity,
        "confidence": finding.confidence,
        "message": finding.message,
        "help": finding.help,
        "fix": finding.fix,
        "fingerprint": mark,
        "location": _location(finding.position),
        "related": [{**_location(position), "message": words} for position, words in finding.related],
    }


def _location(position: Position) -> dict[str, Any]:
    return {
        "path": relative(position.source.name),
        "line": position.line,
        "column": position.column,
        "end_line": position.end_line,
        "end_column": position.end_column,
    }
