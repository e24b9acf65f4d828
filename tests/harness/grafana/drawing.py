"""A dashboard that is drawn from Prometheus' answers, without a network, and what a reader sees on it."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, Route, ViewportSize

from tests.harness.grafana import bundle
from tests.harness.grafana.answers import Answers

WIDTH = 1600
# Nothing answers there but the files of the bundle.
ADDRESS = "http://dashboard.test/"
_PAGE = f'<!doctype html><link rel="stylesheet" href="{bundle.SHEET}"><script src="{bundle.SCRIPT}"></script><body>'
# Of Grafana's dark theme.
_COLORS = {
    "rgb(115, 191, 105)": "green",
    "rgb(250, 222, 42)": "yellow",
    "rgb(255, 152, 48)": "orange",
    "rgb(242, 73, 92)": "red",
}
# The scales of a graph are pixels. This notes their text at the canvas.
_NOTE_TEXT = """
const {fillText, clearRect} = CanvasRenderingContext2D.prototype;
Object.assign(CanvasRenderingContext2D.prototype, {
  fillText(text, ...place) { (this.canvas.texts ??= []).push(text); fillText.call(this, text, ...place); },
  clearRect(...place) { this.canvas.texts = []; clearRect.call(this, ...place); },
});
"""
_READ = """
panels => panels.map(panel => {
  const texts = selector => [...panel.querySelectorAll(selector)].map(found => found.innerText);
  return {
    title: panel.querySelector("h2").innerText,
    values: [...panel.querySelectorAll(".value")].map(value => ({
      lines: value.innerText.split("\\n"),
      color: getComputedStyle([...value.querySelectorAll("span")].at(-1)).color,
    })),
    legend: texts('[data-testid*="VizLegend series"]'),
    scale: [...panel.querySelectorAll("canvas")].flatMap(canvas => canvas.texts ?? []),
    message: texts(".nothing").join(),
  };
})
"""

Object = Mapping[str, Any]


@dataclass(frozen=True)
class Value:
    """A number of a panel with its unit, its name if the panel has several, and its colour."""

    text: str
    name: str
    color: str


@dataclass(frozen=True)
class Panel:
    """The contents of a panel: numbers, a graph with its legend and the texts of its scales, or a message instead."""

    title: str
    values: tuple[Value, ...]
    legend: tuple[str, ...]
    scale: tuple[str, ...]
    message: str

    @property
    def is_empty(self) -> bool:
        """Returns true if the panel says that it has no data."""
        return "No data" in (self.message, *(value.text for value in self.values))


@dataclass(frozen=True)
class Drawing:
    """A dashboard in a browser; `faults` are its errors and its requests for files that the bundle does not have."""

    page: Page
    faults: list[str]

    def panels(self) -> dict[str, Panel]:
        """Return the panels by their titles."""
        found = self.page.locator("[data-panel]").evaluate_all(_READ)
        return {panel.title: panel for panel in map(_panel, found)}

    def save(self, file: Path) -> None:
        """Write the picture of the whole dashboard."""
        self.page.screenshot(path=file, full_page=True)


def _panel(found: Object) -> Panel:
    values = (
        Value(_line(lines := one["lines"], -1), _line(lines[:-1], 0), _COLORS.get(one["color"], one["color"]))
        for one in found["values"]
    )
    return Panel(found["title"], tuple(values), tuple(found["legend"]), tuple(found["scale"]), found["message"])


def _line(lines: Sequence[str], at: int) -> str:
    return lines[at] if lines else ""


@contextmanager
def drawn(
    browser: Browser,
    dashboard: Object,
    answers: Answers,
    *,
    start: float,
    end: float,
    width: int = WIDTH,
    scheme: Literal["dark", "light"] = "dark",
) -> Iterator[Drawing]:
    """Draw a dashboard for a time range, in seconds since 1970."""
    files = bundle.folder()
    faults: list[str] = []

    def serve(route: Route) -> None:
        address = urlsplit(route.request.url)
        file = files / address.path.lstrip("/")
        if route.request.url == ADDRESS:
            route.fulfill(body=_PAGE, content_type="text/html")
        elif route.request.url.startswith(ADDRESS) and file.is_file():
            route.fulfill(path=file, content_type=mimetypes.guess_type(file.name)[0] or "")
        else:
            faults.append(route.request.url)
            route.abort()

    context = browser.new_context(viewport=ViewportSize(width=width, height=900))
    context.add_init_script(_NOTE_TEXT)
    context.route("**", serve)
    page = context.new_page()
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
    page.goto(ADDRESS)
    drawing = {
        "dashboard": dashboard,
        "answers": answers,
        "range": {"from": start, "to": end},
        "scheme": scheme,
        "width": width,
    }
    page.evaluate("drawing => draw(drawing)", drawing)
    try:
        yield Drawing(page, faults)
    finally:
        context.close()
