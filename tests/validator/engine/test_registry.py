"""The index knows the rules, and leaving rules out by their words changes nothing."""

from __future__ import annotations

import pytest

from tests.validator import cases
from validator import registry
from validator.rule import Rule

FILES = sorted((*registry.folder().glob("*/*.bad.yaml"), *registry.folder().glob("*/*.good.yaml")))
EVERY = registry.discover()
DEMANDING = tuple(rule for rule in EVERY if rule.needs)


def test_the_index_has_every_rule_as_its_file_says() -> None:
    def known(rule: Rule) -> dict[str, object]:
        return {name: value for name, value in rule._asdict().items() if name not in ("check", "parameters")}

    assert [known(rule) for rule in registry.rules()] == [known(rule) for rule in EVERY]


@pytest.mark.parametrize("family", sorted({rule.module.split(".")[-2] for rule in DEMANDING}))
def test_a_rule_that_is_not_imported_for_want_of_a_word_would_find_nothing(family: str) -> None:
    undemanding = tuple(rule._replace(needs=()) for rule in DEMANDING)
    for path in (path for path in FILES if path.parent.name == family):
        case = cases.load(path)
        assert _found(case, DEMANDING) == _found(case, undemanding), path.name


def _found(case: cases.Case, rules: tuple[Rule, ...]) -> list[tuple[str, int, int, str]]:
    return [finding.order for finding in cases.lint(case, rules)]
