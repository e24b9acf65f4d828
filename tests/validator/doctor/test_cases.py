"""Each cause against its log cases: what is reported, who failed first, and logs that resemble a failure."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validator.doctor.log_cases import LogCase, cases
from tests.validator.doctor.measuring import HEALTHY, HELD_OUT, MENDED, measure, names
from trainyard.commands.doctor.catalogue import causes
from trainyard.commands.doctor.diagnosis import Diagnosis, diagnose
from trainyard.engine import registry


def _diagnosis(case: LogCase, folder: Path) -> Diagnosis:
    path = folder / "run.log"
    path.write_text(case.log)
    return diagnose([str(path)])


@pytest.mark.parametrize("case", [*cases(), *cases(MENDED)], ids=lambda case: case.name)
def test_a_log_is_diagnosed_as_judged(case: LogCase, tmp_path: Path) -> None:
    result = _diagnosis(case, tmp_path)
    assert names(result) == case.expected
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
    assert causes().keys() - {"collective-not-joined"} == {
        name for case in [*cases(), *cases(MENDED)] for name in case.expected
    }


def test_each_cause_leads_to_existing_rules_and_hides_existing_causes() -> None:
    rules = {rule.name for rule in registry.rules()}
    for cause in causes().values():
        assert set(cause.rules) <= rules, cause.name
        assert set(cause.hides) <= causes().keys(), cause.name
        assert cause.confidence in ("high", "medium", "low"), cause.name


def test_precision_and_recall_on_logs_that_were_held_out_do_not_fall() -> None:
    score = measure(HELD_OUT)
    assert score.precision >= 0.85
    assert score.recall >= 0.7
    assert score.first_found == score.first


def test_no_cause_of_a_healthy_log_is_certain() -> None:
    reported = {case.name: diagnose([str(HEALTHY / case.name)]).causes for case in cases(HEALTHY)}
    causes_of = {name: [evidence.cause for evidence in found] for name, found in reported.items() if found}
    assert [name for name, found in causes_of.items() if any(cause.confidence == "high" for cause in found)] == []
    assert len(causes_of) <= 2
