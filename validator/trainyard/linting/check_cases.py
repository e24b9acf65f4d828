"""Runs the cases of the checks in a configuration: each bad one must be reported, and no good one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from trainyard.checks.check import Case, Check, Judge, rule_of
from trainyard.checks.expressions import ExpressionError
from trainyard.document.files import File
from trainyard.document.source import Source
from trainyard.engine.engine import Engine
from trainyard.linting import pipeline

if TYPE_CHECKING:
    from trainyard.linting.config import Config


class Result(NamedTuple):
    """The result of the cases of a check, or of one that failed: `fault` gives the reason."""

    line: str
    fault: str | None
    cases: int


def run(config: Config) -> list[Result]:
    """Returns a result for each check, and for each case that failed."""
    return [result for check in config.checks for result in _of_check(check, config)]


def _of_check(check: Check, config: Config) -> Iterator[Result]:
    name = f"{check.code} {check.name}"
    failed = 0
    for case in check.cases:
        fault = _fault(check, case, config)
        if fault is not None:
            failed += 1
            yield Result(f"{case.where}: {check.name}: {fault}", fault, 0)
    count = len(check.cases)
    kinds = {case.bad for case in check.cases}
    missing = [words for bad, words in ((True, "bad"), (False, "good")) if bad not in kinds]
    note = f"; it has no {' and no '.join(missing)} case" if missing else ""
    state = f"{failed} of {count} cases failed" if failed else f"{count} {'case' if count == 1 else 'cases'} passed"
    yield Result(f"{name}: {state}{note}", None, count)


def _fault(check: Check, case: Case, config: Config) -> str | None:
    """Returns what is wrong with the verdict about a case, None if it is right."""
    judge = Judge(check)
    reading = pipeline.read_file(File(Source(case.name, case.text)))
    if reading.broken:
        return f"line {reading.broken[0].line} of the case cannot be read: {reading.broken[0].message}"
    try:
        report = pipeline.lint([reading], Engine((rule_of(check, judge),), config.target))
    except ExpressionError as error:
        return str(error)
    if not judge.judged:
        return f"the case holds no {check.subject} that `match` covers, so the check judges nothing in it"
    found = [finding for finding in report.findings if finding.rule.code == check.code]
    if case.bad and not found:
        return "the check reports nothing in this bad case"
    if found and not case.bad:
        line = found[0].position.line
        return f"the check reports this good case, at its line {line}: {found[0].message}"
    return None
