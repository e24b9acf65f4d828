"""The index has all rules, and skipping a rule whose words are missing from a file changes no findings."""

from __future__ import annotations

import pytest

from tests.validator.rules import cases
from trainyard.engine import registry
from trainyard.engine.rule import Rule

FILES = sorted((*registry.folder().glob("*/cases/*.bad.yaml"), *registry.folder().glob("*/cases/*.good.yaml")))
DISCOVERED = registry.discover()
SKIPPABLE = tuple(rule for rule in DISCOVERED if rule.needs)


def test_the_index_describes_every_rule_as_its_file_does() -> None:
    def known(rule: Rule) -> dict[str, object]:
        return {name: value for name, value in rule._asdict().items() if name not in ("check", "parameters")}

    assert [known(rule) for rule in registry.rules()] == [known(rule) for rule in DISCOVERED]


@pytest.mark.parametrize("family", sorted({rule.module.split(".")[-2] for rule in SKIPPABLE}))
def test_a_rule_that_is_skipped_for_missing_words_would_find_nothing(family: str) -> None:
    never_skipped = tuple(rule._replace(needs=()) for rule in SKIPPABLE)
    for path in (path for path in FILES if path.parent.name == family):
        case = cases.load(path)
        assert _found(case, SKIPPABLE) == _found(case, never_skipped), path.name


def _found(case: cases.Case, rules: tuple[Rule, ...]) -> list[tuple[str, int, int, str]]:
    return [finding.order for finding in cases.lint(case, rules)]
