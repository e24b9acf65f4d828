"""A curve as an SVG picture, whose colours come from the style of the page."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 640, 240, 64, 14, 16, 40
# A picture of 640 pixels shows no more points than this.
_MOST_POINTS = 1200
_MARKS = 5
Point = tuple[float, float]


def curve(points: Sequence[Point], *, title: str, across: str, restarts: Sequence[float] = ()) -> str:
    """Returns the picture of at least one point. `across` names the axis of the first values.

    The points are in the order of their first values. Each restart is a vertical line.
    """
    shown = _thinned(points)
    low, high = min(y for _, y in shown), max(y for _, y in shown)
    pad = (high - low) * 0.05 or abs(high) * 0.05 or 1.0
    x_axis = _Axis(shown[0][0], shown[-1][0], _LEFT, _WIDTH - _RIGHT)
    y_axis = _Axis(low - pad, high + pad, _HEIGHT - _BOTTOM, _TOP)
    places = [(x_axis.at(x), y_axis.at(y)) for x, y in shown]
    parts = [
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}: {shown[0][1]:,.4g} to {shown[-1][1]:,.4g}</title>",
        *_grid(x_axis, y_axis),
        *(_vertical(x_axis.at(at)) for at in restarts if shown[0][0] <= at <= shown[-1][0]),
        f'<polyline class="line" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in places)}"/>',
        f'<circle class="dot" cx="{places[-1][0]:.1f}" cy="{places[-1][1]:.1f}" r="3"/>',
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 6, across, "middle"),
        "</svg>",
    ]
    return "\n".join(parts)


class _Axis:
    """A linear axis: the values at its ends, and their places in the picture."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.high, self._start = low, high, start
        self._scale = (end - start) / (high - low) if high > low else 0.0

    def at(self, value: float) -> float:
        """Returns the place of a value."""
        return self._start + (value - self.low) * self._scale

    def marks(self) -> list[float]:
        """Returns round values within the axis."""
        if self.high <= self.low:
            return [self.low]
        rough = (self.high - self.low) / _MARKS
        power = 10.0 ** math.floor(math.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [number * step for number in range(first, last + 1)]


def _thinned(points: Sequence[Point]) -> Sequence[Point]:
    """Returns the lowest and the highest point of each slice, so that no peak is lost."""
    if len(points) <= _MOST_POINTS:
        return points
    size = math.ceil(2 * len(points) / _MOST_POINTS)
    kept: list[Point] = [points[0]]
    for start in range(1, len(points) - 1, size):
        part = points[start : min(start + size, len(points) - 1)]
        ends = {min(part, key=lambda point: point[1]), max(part, key=lambda point: point[1])}
        kept += sorted(ends)
    return [*kept, points[-1]]


def _grid(x_axis: _Axis, y_axis: _Axis) -> Iterator[str]:
    for mark in y_axis.marks():
        y = y_axis.at(mark)
        yield f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield _text(_LEFT - 8, y + 4, f"{mark:,.6g}", "end")
    for mark in x_axis.marks():
        yield _text(x_axis.at(mark), _HEIGHT - _BOTTOM + 16, f"{mark:,.6g}", "middle")


def _vertical(x: float) -> str:
    return f'<line class="restart" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{_HEIGHT - _BOTTOM}"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(words)}</text>'
