"""SARIF 2.1.0, which code hosts show beside the lines of a change."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from trainyard import DOCUMENTATION, __version__
from trainyard.engine import registry
from trainyard.engine.links import rule_url
from trainyard.linting.fingerprint import fingerprints, relative

if TYPE_CHECKING:
    from trainyard.document.source import Position
    from trainyard.engine.finding import Finding
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report
    from trainyard.reporters import Style

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}


def render(report: Report, rules: Sequence[Rule], style: Style) -> str:  # noqa: ARG001
    """Returns one run, with every finding and the rules that have one; suppressed findings are marked."""
    everything = [*((finding, None) for finding in report.findings), *report.allowed]
    occurred = {finding.rule.code: finding.rule for finding, _ in everything}
    numbers = {code: number for number, code in enumerate(sorted(occurred))}
    marked = zip(fingerprints(finding for finding, _ in everything), everything, strict=True)
    results = [_result(finding, mark, numbers, reason) for (finding, mark), (_, reason) in marked]
    driver = {
        "name": "trainyard",
        "semanticVersion": __version__,
        "informationUri": DOCUMENTATION,
        "rules": [_rule(occurred[code]) for code in numbers],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    if report.notes:
        told = [{"level": "note", "message": {"text": note}} for note in report.notes]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": told}]
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2) + "\n"


def _rule(rule: Rule) -> dict[str, Any]:
    page = registry.page(rule)
    title = page.split("\n", 1)[0]
    return {
        "id": rule.code,
        "name": "".join(word.capitalize() for word in rule.name.split("-")),
        "shortDescription": {"text": title},
        "helpUri": rule_url(rule),
        "help": {"text": page},
        "defaultConfiguration": {"level": _LEVELS[rule.severity]},
        "properties": {"confidence": rule.confidence},
    }


def _result(finding: Finding, mark: str, numbers: dict[str, int], reason: str | None) -> dict[str, Any]:
    words = f"{finding.message}. {finding.help[:1].upper()}{finding.help[1:]}." if finding.help else finding.message
    result: dict[str, Any] = {
        "ruleId": finding.rule.code,
        "level": _LEVELS[finding.rule.severity],
        "message": {"text": words},
        "locations": [{"physicalLocation": _location(finding.position)}],
        "partialFingerprints": {"trainyard/v1": mark},
    }
    result["ruleIndex"] = numbers[finding.rule.code]
    if finding.related:
        result["relatedLocations"] = [
            {"id": number, "physicalLocation": _location(position), "message": {"text": why}}
            for number, (position, why) in enumerate(finding.related)
        ]
    if reason is not None:
        result["suppressions"] = [{"kind": "inSource", "justification": reason}]
    return result


def _location(position: Position) -> dict[str, Any]:
    path = relative(position.source.name)
    artifact: dict[str, Any] = {"uri": quote("stdin" if path.startswith("<") else path, errors="surrogateescape")}
    if not path.startswith(("/", "..", "<")):
        artifact["uriBaseId"] = "%SRCROOT%"
    region = {
        "startLine": position.line,
        "startColumn": position.column,
        "endLine": position.end_line,
        "endColumn": position.end_column,
    }
    return {"artifactLocation": artifact, "region": region}
