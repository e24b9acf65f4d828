"""Every rule is documented, has sources and cases, and finds the marked lines of its cases and no others."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.validator.rules import cases, messages
from trainyard.engine import registry
from trainyard.engine.rule import SUBJECTS, Rule

RULES = cases.every_rule()
REGULAR = tuple(rule for rule in RULES if rule.persona == "regular")


def each(part: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrizes a test over the case files of one part."""
    found = [pytest.param(rule, path, id=path.name) for rule in RULES for path in cases.case_files(rule, part)]
    return pytest.mark.parametrize(("rule", "path"), found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_complete(rule: Rule) -> None:
    assert rule.name in {indexed.name for indexed in registry.rules()}, "the index lacks the rule: run `make rules`"
    page = registry.page(rule)
    assert re.fullmatch(r"[A-Z]{2}\d{3}", rule.code)
    assert rule.subject in SUBJECTS
    assert rule.sources, "a rule names the sources of its facts"
    assert all(len(source) > 10 for source in rule.sources), "a source can be looked up"
    assert page.split("\n")[0].endswith("."), "the page starts with a sentence on the fault"
    assert len(page.split()) >= 40, "the page explains the fault and its remedy"
    assert cases.case_files(rule, "bad"), "a rule has a bad case"
    assert cases.case_files(rule, "good"), "a rule has a good case"
    assert bool(cases.case_files(rule, "fixed")) == (rule.fix is not None), (
        "a rule has a fixed case if and only if it has a fix"
    )


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


def test_a_former_name_leads_to_the_rule() -> None:
    for former, code in registry.FORMER_NAMES.items():
        assert registry.find_rule(former) == registry.find_rule(code) is not None


@each("bad")
def test_the_rule_finds_the_marked_lines_and_no_other(rule: Rule, path: Path) -> None:
    case = cases.load(path)
    assert case.expected, "a bad case marks its lines"
    findings = cases.lint(case, (rule,))
    found = {(finding.position.line, finding.rule.code) for finding in findings}
    assert found == {(line, code) for line, code in case.expected if code == rule.code}
    assert messages.said(findings) == messages.stored(path.parent).get(path.name), (
        "the messages changed: run `python -m tests.validator.rules.messages` and read the difference"
    )


@each("bad")
def test_no_other_rule_finds_an_unmarked_line(rule: Rule, path: Path) -> None:
    case = cases.load(path)
    found = {(finding.position.line, finding.rule.code) for finding in cases.lint(case, REGULAR)}
    assert found <= case.expected


@each("good")
def test_no_rule_finds_anything_in_a_good_case(rule: Rule, path: Path) -> None:
    case = cases.load(path)
    assert [(f.rule.code, f.position.line, f.message) for f in cases.lint(case, tuple({*REGULAR, rule}))] == []


@each("fixed")
def test_the_fix_writes_exactly_the_fixed_case_in_which_nothing_is_found(rule: Rule, path: Path) -> None:
    bad = cases.load(path.with_name(path.name.replace(".fixed.", ".bad.")))
    good = cases.load(path)
    assert cases.fixed(bad, cases.lint(bad, (rule,))) == good.text
    assert cases.lint(good, (rule,)) == []
