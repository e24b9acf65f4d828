"""The report in a browser: what a reader sees, without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.harness.browser import chromium
from tests.validator.report.test_command import resumed_run, run
from tests.validator.status.test_commands import Commands

__all__ = ["run"]
Scheme = Literal["light", "dark"]
TELEPHONE, DESK = ViewportSize(width=390, height=844), ViewportSize(width=1280, height=900)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of all tests of this file."""
    with chromium() as started:
        yield started


@pytest.fixture
def file(run: Commands, tmp_path: Path) -> Path:
    """The report of a run that was killed and resumed."""
    assert run(resumed_run(), "report", "steps").code == 0
    return tmp_path / "steps.html"


def opened(
    browser: Browser, file: Path, *, scheme: Scheme = "light", size: ViewportSize = DESK
) -> tuple[Page, list[str]]:
    """Return the page, and a list of its errors and of its requests for other addresses."""
    context = browser.new_context(color_scheme=scheme, viewport=size)
    page = context.new_page()
    faults: list[str] = []
    page.on("console", lambda message: faults.append(message.text))
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("request", lambda request: faults.append(request.url) if request.url != file.as_uri() else None)
    page.goto(file.as_uri())
    return page, faults


def test_the_curves_are_drawn_and_nothing_else_is_loaded(browser: Browser, file: Path) -> None:
    page, faults = opened(browser, file)
    assert page.title() == "PyTorchJob demo/steps"
    boxes = [page.locator("svg .line").nth(at).bounding_box() for at in range(3)]
    assert all(box is not None and box["width"] > 200 and box["height"] > 30 for box in boxes)
    assert page.locator("svg .restart").count() == 3
    assert faults == []


def test_a_slow_pair_of_nodes_is_red_and_a_fast_one_green(browser: Browser, file: Path) -> None:
    page, _ = opened(browser, file)
    cells = page.locator("#preflight td.cell")

    def colour(at: int) -> tuple[int, int]:
        red, green, *_ = cells.nth(at).evaluate(
            "cell => getComputedStyle(cell).backgroundColor.match(/[\\d.]+/g).map(Number)"
        )
        return red, green

    (fast_red, fast_green), (slow_red, slow_green) = colour(1), colour(2)
    assert fast_green > fast_red
    assert slow_red > slow_green


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_is_readable_in_both_colour_schemes(browser: Browser, file: Path, scheme: Scheme) -> None:
    page, _ = opened(browser, file, scheme=scheme)
    brightness = "colour => colour.match(/\\d+/g).slice(0, 3).reduce((sum, part) => sum + Number(part), 0)"
    text = page.evaluate(f"({brightness})(getComputedStyle(document.body).color)")
    assert (text < 200) if scheme == "light" else (text > 500)


def test_the_page_is_as_wide_as_a_telephone(browser: Browser, file: Path) -> None:
    page, _ = opened(browser, file, size=TELEPHONE)
    assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE["width"]
