"""Scores of ranks that hold the others up."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from trainer.metrics.figures import WINDOW_STEPS
from trainer.metrics.straggler import Stragglers, scores
from trainer.runtime.boundary import Report

from .steps import figures

SECONDS = st.floats(min_value=1e-6, max_value=1e3)
WINDOWS = st.integers(1, 6).flatmap(
    lambda ranks: st.lists(st.lists(SECONDS, min_size=ranks, max_size=ranks), min_size=1, max_size=8)
)


@given(WINDOWS)
def test_the_fastest_rank_has_one_and_no_rank_more(window: list[list[float]]) -> None:
    found = scores(window)

    assert max(found) == 1
    assert all(0 < score <= 1 for score in found)


@given(WINDOWS, st.integers(1, 20))
def test_a_rank_that_takes_n_times_as_long_as_all_others_has_one_nth(window: list[list[float]], times: int) -> None:
    equal = [[row[0]] * 4 for row in window]
    slow = [[*row, row[0] * times] for row in equal]

    assert math.isclose(scores(slow)[-1], 1 / times)


@given(WINDOWS)
def test_who_is_slow_does_not_depend_on_the_order_of_ranks_or_on_the_unit(window: list[list[float]]) -> None:
    turned = [[1000 * seconds for seconds in reversed(row)] for row in window]

    assert all(map(math.isclose, scores(window), reversed(scores(turned))))


def test_waiting_in_backward_makes_nobody_slow() -> None:
    stragglers = Stragglers()
    quick = Report(data_seconds=0.1, forward_seconds=0.1, backward_seconds=0.8)
    slow = Report(data_seconds=0.7, forward_seconds=0.1, backward_seconds=0.2)

    stragglers.stepped(figures(1, reports=[quick, slow]))

    assert all(map(math.isclose, stragglers.scores(), [1.0, 0.25]))


def test_a_rank_that_was_slow_once_is_forgiven_after_a_window() -> None:
    stragglers = Stragglers()
    quick, slow = Report(data_seconds=0.1), Report(data_seconds=0.9)

    stragglers.stepped(figures(1, reports=[quick, slow]))
    for step in range(WINDOW_STEPS):
        stragglers.stepped(figures(step + 2, reports=[quick, quick]))

    assert stragglers.scores() == [1.0, 1.0]


def test_no_time_at_all_is_not_slow() -> None:
    assert scores([]) == []
    assert scores([[0.0, 0.0]]) == [1.0, 1.0]
    assert scores([[0.0, 1.0]]) == [1.0, 0.0]
