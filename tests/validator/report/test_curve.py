"""A curve as a picture: its peaks, its marks and its limits."""

from __future__ import annotations

import re

import pytest

from trainyard.commands.report.curve import Point, curve


def points(picture: str) -> list[Point]:
    """Return the places of the curve."""
    found = re.search(r'points="([^"]*)"', picture)
    assert found is not None
    return [(float(x), float(y)) for x, y in (place.split(",") for place in found[1].split())]


def test_a_peak_among_a_million_points_is_drawn() -> None:
    values = [(float(step), 1000.0 if step == 777_777 else 1.0) for step in range(1_000_000)]
    drawn = points(curve(values, title="loss", across="step"))
    assert len(drawn) <= 1202
    assert min(y for _, y in drawn) < 30
    assert [x for x, _ in drawn] == sorted(x for x, _ in drawn)


@pytest.mark.parametrize("values", [[(7.0, 0.0)], [(0.0, 2.5), (1.0, 2.5)], [(0.0, -1e-12), (1.0, 1e12)]])
def test_every_series_is_within_the_picture(values: list[Point]) -> None:
    picture = curve(values, title="a < b", across="step")
    assert "a &lt; b" in picture
    assert all(0 <= x <= 640 and 0 <= y <= 240 for x, y in points(picture))


def test_a_restart_is_a_line_within_the_steps_that_are_known() -> None:
    values = [(10.0, 1.0), (20.0, 2.0)]
    picture = curve(values, title="loss", across="step", restarts=[5.0, 15.0, 25.0])
    assert picture.count('class="restart"') == 1
