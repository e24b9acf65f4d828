"""The precision and recall of `trainyard doctor` on logs of public issues, which were judged before it read them.

`field/mended` has the logs whose misses were mended afterwards, `field/held_out` those that no sign was written for,
and `field/healthy` logs of runs that did not fail.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from tests.validator.doctor.log_cases import cases
from trainyard.commands.doctor.diagnosis import Diagnosis, diagnose

FOLDER = Path(__file__).parent / "field"
MENDED, HELD_OUT, HEALTHY = FOLDER / "mended", FOLDER / "held_out", FOLDER / "healthy"


class Score(NamedTuple):
    """The causes of some logs that were found, reported wrongly and missed, and the first failures that were found."""

    logs: int
    found: int
    extra: int
    missed: int
    first_found: int
    first: int

    @property
    def precision(self) -> float:
        """The share of the reported causes that are right."""
        return self.found / (self.found + self.extra)

    @property
    def recall(self) -> float:
        """The share of the causes that are reported."""
        return self.found / (self.found + self.missed)


def names(result: Diagnosis) -> frozenset[str]:
    """Returns the names of the reported causes."""
    return frozenset(evidence.cause.name for evidence in result.causes)


def measure(folder: Path) -> Score:
    """Returns the score of the logs of a folder."""
    logs = cases(folder)
    found = extra = missed = right = 0
    for case in logs:
        result = diagnose([str(folder / case.name)])
        reported = names(result)
        found += len(reported & case.expected)
        extra += len(reported - case.expected)
        missed += len(case.expected - reported)
        right += case.first is not None and result.first is not None and result.first.origin == case.first
    return Score(len(logs), found, extra, missed, right, sum(case.first is not None for case in logs))
