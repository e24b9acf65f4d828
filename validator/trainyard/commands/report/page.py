"""The report as a page of HTML that needs no other file, no script and no network."""

from __future__ import annotations

from typing import Any

import jinja2
from markupsafe import Markup

from trainyard import __version__
from trainyard.commands.report.contents import Contents
from trainyard.commands.report.curve import curve
from trainyard.commands.report.heat_map import Cell
from trainyard.commands.report.history import History
from trainyard.commands.status.report import duration, progress_words, speed

_CURVES = (
    (("loss",), "Training loss"),
    (("test_loss",), "Test loss"),
    (("tokens_per_second", "samples_per_second"), "Throughput per second"),
    (("mfu",), "Model FLOPs utilization"),
    (("ettr",), "Effective training time ratio"),
    (("gpu_peak_gib",), "Peak memory of a GPU in GiB"),
)
_STATES = {"succeeded": "good", "running": "good", "failed": "bad"}


def page(contents: Contents) -> str:
    """Returns the page."""
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("trainyard.commands.report", "."),
        # Logs, events and manifests hold anything; only the pictures are written as they are.
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"duration": duration, "clock": _clock, "heat": _heat}
    verdict, now = contents.verdict, contents.snapshot.now
    return environment.get_template("page.html").render(
        contents=contents,
        verdict=verdict,
        now=now,
        version=__version__,
        state=_STATES.get(verdict.state, "bad" if verdict.is_blocked else "waits"),
        progress=progress_words(verdict.progress, now),
        speed=speed,
        curves=list(_curves(contents.history)),
    )


def _curves(history: History) -> list[tuple[str, Markup]]:
    starts = [float(restart.step) for restart in history.restarts] if history.unit == "step" else []
    found = []
    for names, title in _CURVES:
        points = history.values(*names)
        if points:
            found.append((title, Markup(curve(points, title=title, across=history.unit, restarts=starts))))  # noqa: S704
    return found


def _clock(moment: Any) -> str:
    """Returns a time to the second, in UTC."""
    return f"{moment:%Y-%m-%d %H:%M:%S}"


def _heat(cell: Cell) -> str:
    """Returns the style of a cell: from red at half of the best bandwidth or less to green at the best."""
    if cell.share is None:
        return ""
    hue = 120 * max(0.0, min(1.0, (cell.share - 0.5) * 2))
    return f"background: hsl({hue:.0f} 60% 45% / 0.45)"
