"""Each cause against its log cases: what is reported, who failed first, and logs that resemble a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validator.doctor.log_cases import LogCase, cases
from trainyard.doctor.catalogue import causes
from trainyard.doctor.diagnosis import Diagnosis, diagnose
from trainyard.engine import registry

# Logs that were collected and judged after the code, which is not tuned to them.
LATER = Path(__file__).parent / "later"


def _diagnosis(case: LogCase, folder: Path) -> Diagnosis:
    path = folder / "run.log"
    path.write_text(case.log)
    return diagnose([str(path)])


def _names(result: Diagnosis) -> frozenset[str]:
    return frozenset(evidence.cause.name for evidence in result.causes)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_log_is_diagnosed_as_judged(case: LogCase, tmp_path: Path) -> None:
    result = _diagnosis(case, tmp_path)
    assert _names(result) == case.expected
    if case.first is not None:
        assert result.first is not None
        assert result.first.origin == case.first


def test_a_good_log_expects_nothing_and_a_bad_one_its_cause() -> None:
    for case in cases():
        name, kind = case.name.split(".")[0], case.name.split(".")[-2]
        assert kind in ("good", "bad"), case.name
        assert bool(case.expected) == (kind == "bad"), case.name
        assert name in causes() or name == "first-failure", case.name


def test_each_cause_has_a_bad_log() -> None:
    assert causes().keys() == {name for case in cases() for name in case.expected}


def test_each_cause_leads_to_existing_rules_and_hides_existing_causes() -> None:
    rules = {rule.name for rule in registry.rules()}
    for cause in causes().values():
        assert set(cause.rules) <= rules, cause.name
        assert set(cause.hides) <= causes().keys(), cause.name
        assert cause.confidence in ("high", "medium", "low"), cause.name


def test_precision_and_recall_on_later_logs_do_not_fall() -> None:
    found, extra, missed = _score(LATER)
    assert found / (found + extra) >= 0.85
    assert found / (found + missed) >= 0.6


def _score(folder: Path) -> tuple[int, int, int]:
    found = extra = missed = 0
    for case in cases(folder):
        names = _names(diagnose([str(folder / case.name)]))
        found += len(names & case.expected)
        extra += len(names - case.expected)
        missed += len(case.expected - names)
    return found, extra, missed
