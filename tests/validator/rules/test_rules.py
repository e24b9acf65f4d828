"""Every rule is documented, has a source and cases, and finds in them what it must and nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.validator import cases
from validator import registry
from validator.rule import SUBJECTS, Rule

RULES = registry.rules()
REGULAR = tuple(rule for rule in RULES if rule.persona == "regular")


def each(part: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Parametrize a test over the case files of one part."""
    found = [pytest.param(rule, path, id=path.name) for rule in RULES for path in cases.beside(rule, part)]
    return pytest.mark.parametrize(("rule", "path"), found)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_a_rule_is_complete(rule: Rule) -> None:
    page = registry.page(rule)
    assert re.fullmatch(r"[A-Z]{2}\d{3}", rule.code)
    assert rule.subject in SUBJECTS
    assert rule.sources, "a rule names the source of its fact"
    assert all(len(source) > 10 for source in rule.sources), "a source can be looked up"
    assert page.split("\n")[0].endswith("."), "the page starts with a sentence that says what goes wrong"
    assert len(page.split()) >= 40, "the page explains the fact and what to write instead"
    assert cases.beside(rule, "bad"), "a rule has a case that it finds"
    assert cases.beside(rule, "good"), "a rule has a case that it leaves alone"
    assert bool(cases.beside(rule, "fixed")) == (rule.fix is not None), "a fix has a case, and only a fix"


def test_codes_and_names_are_unique() -> None:
    assert len({rule.code for rule in RULES}) == len({rule.name for rule in RULES}) == len(RULES)


@each("bad")
def test_the_rule_finds_the_marked_lines_and_no_other(rule: Rule, path: Path) -> None:
    case = cases.load(path)
    assert case.expected, "a bad case marks its lines"
    found = {(finding.position.line, finding.rule.code) for finding in cases.lint(case, (rule,))}
    assert found == {(line, code) for line, code in case.expected if code == rule.code}


@each("bad")
def test_no_other_rule_finds_more_than_what_is_marked(rule: Rule, path: Path) -> None:
    case = cases.load(path)
    found = {(finding.position.line, finding.rule.code) for finding in cases.lint(case, REGULAR)}
    assert found <= case.expected


@each("good")
def test_no_rule_finds_anything_in_a_good_case(rule: Rule, path: Path) -> None:
    case = cases.load(path)
    assert [(f.rule.code, f.position.line, f.message) for f in cases.lint(case, tuple({*REGULAR, rule}))] == []


@each("fixed")
def test_the_fix_writes_exactly_the_fixed_case_and_nothing_is_left_to_find(rule: Rule, path: Path) -> None:
    bad = cases.load(path.with_name(path.name.replace(".fixed.", ".bad.")))
    good = cases.load(path)
    assert cases.fixed(bad, rule) == good.text
    assert cases.lint(good, (rule,)) == []
