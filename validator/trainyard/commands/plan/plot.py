"""The time of a run against the number of nodes, as a picture in SVG or PNG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import escape

from trainyard import DISTRIBUTION
from trainyard.commands.plan.errors import PlanError
from trainyard.commands.plan.estimate import Plan

_ZOOM = 2
_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT, _BOTTOM = 640, 400, 70, 40, 20, 50
# Renderers without a default for sans-serif take the first family that they find.
_FONT = 'font-family="Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif" font-size="12" fill="#333"'


def picture(plans: Sequence[Plan]) -> str:
    """Returns the picture: both axes are logarithmic, and the band is the range. The dashed line is perfect scaling.

    Raises `PlanError` for fewer than two plans.
    """
    if len(plans) < 2:
        raise PlanError(
            "--plot: other numbers of nodes cannot share the sequences of a step equally; choose a --global-batch that "
            "is a multiple of their ranks"
        )
    days = [value for plan in plans for value in plan.days]
    low, high = min(days), max(days)
    across = _Axis(plans[0].layout.nodes, plans[-1].layout.nodes, _LEFT, _WIDTH - _RIGHT)
    up = _Axis(low, high, _HEIGHT - _BOTTOM, _TOP)
    nodes = [plan.layout.nodes for plan in plans]
    best = [(across.at(node), up.at(plan.days.best)) for node, plan in zip(nodes, plans, strict=True)]
    worst = [(across.at(node), up.at(plan.days.worst)) for node, plan in zip(nodes, plans, strict=True)]
    expected = [(across.at(node), up.at(plan.days.expected)) for node, plan in zip(nodes, plans, strict=True)]
    first = plans[0].days.expected * nodes[0]
    ideal = [(across.at(node), up.at(first / node)) for node in nodes]
    title = f"{plans[0].shape.name} on {plans[0].gpu.name}: days against nodes"
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        _text(_WIDTH / 2, 22, title, "middle"),
        *(_line(up.at(mark)) for mark in _marks(low, high)),
        f'<polygon points="{_points([*best, *worst[::-1]])}" fill="#cfe3f5"/>',
        f'<clipPath id="inside"><rect x="{_LEFT}" y="{_TOP}" width="{_WIDTH - _LEFT - _RIGHT}" '
        f'height="{_HEIGHT - _TOP - _BOTTOM}"/></clipPath>',
        f'<polyline points="{_points(ideal)}" fill="none" stroke="#888" stroke-dasharray="4 4" '
        'clip-path="url(#inside)"/>',
        f'<polyline points="{_points(expected)}" fill="none" stroke="#1565c0" stroke-width="2"/>',
        *(_text(across.at(node), _HEIGHT - _BOTTOM + 20, str(node), "middle") for node in nodes),
        *(_text(_LEFT - 8, up.at(mark) + 4, f"{mark:g}", "end") for mark in _marks(low, high)),
        _text(_WIDTH / 2, _HEIGHT - 10, "nodes", "middle"),
        _text(_LEFT - 8, _TOP - 14, "days", "end"),
        _text(_WIDTH - _RIGHT, _TOP + 12, "line: expected, band: range, dashed: perfect scaling", "end"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def as_png(svg: str) -> bytes:
    """Returns a picture in pixels, two for each unit of the vector graphic.

    Raises `PlanError` if the renderer is not installed.
    """
    try:
        import resvg_py
    except ImportError:
        raise PlanError(
            f"--plot: a PNG needs the renderer of `python -m pip install '{DISTRIBUTION}[plot]'`; an SVG needs nothing"
        ) from None
    return bytes(resvg_py.svg_to_bytes(svg_string=svg, zoom=_ZOOM))


class _Axis:
    """A logarithmic axis: the values at its ends, and their places."""

    def __init__(self, low: float, high: float, start: float, end: float) -> None:
        self.low, self.start, self.end = math.log(low), start, end
        self.length = math.log(high) - math.log(low) or 1.0

    def at(self, value: float) -> float:
        """Returns the place of a value."""
        return self.start + (math.log(value) - self.low) / self.length * (self.end - self.start)


def _marks(low: float, high: float) -> list[float]:
    """Returns the powers of ten, with 2 and 5 times each, that are within the range."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found = [factor * 10.0**power for power in range(first, last + 1) for factor in (1, 2, 5)]
    return [mark for mark in found if low <= mark <= high]


def _points(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _line(y: float) -> str:
    return f'<line x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#eee"/>'


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {_FONT}>{escape(words)}</text>'
