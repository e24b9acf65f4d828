"""The state of a run: its headline, and the rows of its pods."""

from __future__ import annotations

import pytest

from tests.validator.status.status_cases import StatusCase, cases
from trainyard.commands.status.verdict import judge


@pytest.mark.parametrize("case", cases(), ids=lambda case: case.name)
def test_a_run_is_judged_as_a_person_does(case: StatusCase) -> None:
    verdict = judge(case.snapshot)
    assert (verdict.state, verdict.headline) == (case.expect["state"], case.expect["headline"])
    assert int(verdict.is_blocked) == case.expect["exit"]
