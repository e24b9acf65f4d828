"""Scores of stragglers, ranks that slow the others down."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tests.trainer.step_metrics import step_metrics
from trainer.metrics.base import WINDOW_STEPS
from trainer.metrics.straggler import Stragglers, straggler_scores
from trainer.runtime.step_sync import StepReport

SECONDS = st.floats(min_value=1e-6, max_value=1e3)
WINDOWS = st.integers(1, 6).flatmap(
    lambda ranks: st.lists(st.lists(SECONDS, min_size=ranks, max_size=ranks), min_size=1, max_size=8)
)


@given(WINDOWS)
def test_the_fastest_rank_scores_one_and_no_rank_more(window: list[list[float]]) -> None:
    found = straggler_scores(window)

    assert max(found) == 1
    assert all(0 < score <= 1 for score in found)


@given(WINDOWS, st.integers(1, 20))
def test_a_rank_that_takes_n_times_as_long_scores_one_nth(window: list[list[float]], times: int) -> None:
    equal = [[row[0]] * 4 for row in window]
    slow = [[*row, row[0] * times] for row in equal]

    assert math.isclose(straggler_scores(slow)[-1], 1 / times)


@given(WINDOWS)
def test_scores_do_not_depend_on_the_order_of_ranks_or_the_time_unit(window: list[list[float]]) -> None:
    turned = [[1000 * seconds for seconds in reversed(row)] for row in window]

    assert all(map(math.isclose, straggler_scores(window), reversed(straggler_scores(turned))))


def test_waiting_in_backward_does_not_lower_a_score() -> None:
    stragglers = Stragglers()
    quick = StepReport(data_seconds=0.1, forward_seconds=0.1, backward_seconds=0.8)
    slow = StepReport(data_seconds=0.7, forward_seconds=0.1, backward_seconds=0.2)

    stragglers.on_step(step_metrics(1, reports=[quick, slow]))

    assert all(map(math.isclose, stragglers.scores(), [1.0, 0.25]))


def test_a_slow_step_stops_counting_after_a_window() -> None:
    stragglers = Stragglers()
    quick, slow = StepReport(data_seconds=0.1), StepReport(data_seconds=0.9)

    stragglers.on_step(step_metrics(1, reports=[quick, slow]))
    for step in range(WINDOW_STEPS):
        stragglers.on_step(step_metrics(step + 2, reports=[quick, quick]))

    assert stragglers.scores() == [1.0, 1.0]


def test_zero_seconds_are_not_slow() -> None:
    assert straggler_scores([]) == []
    assert straggler_scores([[0.0, 0.0]]) == [1.0, 1.0]
    assert straggler_scores([[0.0, 1.0]]) == [1.0, 0.0]
