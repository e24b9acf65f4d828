"""JUnit XML, which CI systems show as tests: a file is a suite, a finding a failure, a clean file a success."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from trainyard.linting.fingerprint import relative

if TYPE_CHECKING:
    from trainyard.engine.finding import Finding
    from trainyard.engine.rule import Rule
    from trainyard.linting.report import Report
    from trainyard.reporters import Style

# Characters that XML 1.0 cannot hold, not even escaped.
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render(report: Report, rules: Sequence[Rule], style: Style) -> str:  # noqa: ARG001
    """Returns a suite for each file."""
    by_file: dict[str, list[Finding]] = defaultdict(list)
    for finding in report.findings:
        by_file[finding.position.source.name].append(finding)
    root = ET.Element("testsuites", name="trainyard")
    for name in dict.fromkeys((*report.files, *by_file)):
        _suite(root, _clean(relative(name)), by_file[name])
    total = sum(map(len, by_file.values()))
    root.set("tests", str(sum(int(suite.get("tests", "0")) for suite in root)))
    root.set("failures", str(total))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, "unicode")}\n'


def _suite(root: ET.Element, name: str, findings: list[Finding]) -> None:
    count = {"tests": str(max(1, len(findings))), "failures": str(len(findings)), "errors": "0"}
    suite = ET.SubElement(root, "testsuite", {"name": name, **count})
    if not findings:
        ET.SubElement(suite, "testcase", classname=name, name="clean")
    for finding in findings:
        place = f"{name}:{finding.position.line}:{finding.position.column}"
        title = f"{finding.rule.code} {finding.rule.name} at {finding.position.line}:{finding.position.column}"
        case = ET.SubElement(suite, "testcase", classname=name, name=title, file=name, line=str(finding.position.line))
        failure = ET.SubElement(case, "failure", message=_clean(finding.message), type=finding.rule.severity)
        failure.text = _clean("\n".join(filter(None, (f"{place}: {finding.message}", finding.help))))


def _clean(text: str) -> str:
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)
