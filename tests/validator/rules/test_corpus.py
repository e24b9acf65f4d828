"""No rule finds anything in valid manifests: those of the corpus, and all that our charts render."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.charts import helm
from tests.validator.rules import cases
from trainyard.engine import registry
from trainyard.engine.rule import Target

REGULAR = tuple(rule for rule in registry.rules() if rule.persona == "regular")
VALID = sorted((Path(__file__).parent / "corpus" / "valid").glob("*.yaml"))
SCENARIOS = [(chart, scenario) for chart, scenario in helm.SCENARIOS if scenario is not None]


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_nothing_is_found_in_a_valid_manifest(path: Path) -> None:
    assert _found(cases.load(path)) == []


@pytest.mark.parametrize("path", VALID, ids=lambda path: path.stem)
def test_a_valid_manifest_starts_with_a_comment_on_its_purpose_and_origin(path: Path) -> None:
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    assert first.startswith("# ")
    assert " After " in first


def test_the_corpus_is_large() -> None:
    assert len(VALID) >= 150


@pytest.mark.parametrize(("chart", "scenario"), SCENARIOS)
def test_nothing_is_found_in_a_rendered_chart(chart: str, scenario: str) -> None:
    text = helm.manifests("helm", chart, scenario)
    assert _found(cases.Case(Path(f"{chart}.yaml"), text, frozenset(), Target(), None)) == []


def _found(case: cases.Case) -> list[tuple[str, int, str]]:
    return [(finding.rule.code, finding.position.line, finding.message) for finding in cases.lint(case, REGULAR)]
