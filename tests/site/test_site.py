"""A reader of the site: its pages load nothing from elsewhere, fit the screen, and are found by words of messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize

from tests.harness.browser import chromium, served

SITE = Path(__file__).parents[2] / "build" / "site"
TELEPHONE = ViewportSize(width=390, height=844)
# What people type, and a page that has to be among the first results.
SEARCHES = {
    "Grafana": "charts/training-monitoring/",
    "preflight": "charts/training-preflight/",
    "quickstart": "quickstart/",
    "upgrade": "upgrades/",
    "timed out": "faq/",
    "Watchdog caught collective operation timeout": "messages/",
    "unhandled system error": "messages/",
    "FailedScheduling": "messages/",
    "NC005": "rules/",
    "nccl-word-boolean": "rules/nccl-word-boolean/",
    "charts": "charts/",
    "command line": "cli/",
    "exit codes": "cli/",
    "networks rail": "tutorials/multi-rail-roce/",
    "air-gapped": "how-to/packages/",
    "Kueue": "how-to/queues/",
    "kubectl plugin": "status/",
    "heat map": "report/",
    "lostNodes": "charts/node-health/",
    "nccl.conf": "validator/",
    ".env": "validator/",
}
FIRST = 8
# Beside the tests on clusters, a processor may be busy for longer than Playwright waits.
BUSY_MILLISECONDS = 240_000


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address at which the built site is served."""
    assert (SITE / "index.html").is_file(), "build the site first: make docs"
    with served(SITE) as address:
        yield address


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The browser of all tests."""
    with chromium() as started:
        yield started


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    """The home page."""
    opened = browser.new_page()
    opened.set_default_timeout(BUSY_MILLISECONDS)
    opened.goto(address)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    "place", ["", "quickstart/", "charts/training-job/", "rules/", "cli/", "plan/", "scale/", "messages/"]
)
def test_a_page_loads_nothing_from_elsewhere_and_fits_a_telephone(browser: Browser, address: str, place: str) -> None:
    context = browser.new_context(viewport=TELEPHONE)
    page = context.new_page()
    faults: list[str] = []
    page.on("request", lambda request: faults.append(request.url) if not request.url.startswith(address) else None)
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("response", lambda response: faults.append(response.url) if response.status >= 400 else None)
    page.goto(f"{address}{place}", wait_until="networkidle")
    assert page.locator("h1").first.is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= TELEPHONE["width"]
    assert faults == []
    context.close()


def test_every_picture_of_the_home_page_is_drawn(page: Page) -> None:
    sizes = page.locator("article img").evaluate_all("found => found.map(one => one.naturalWidth)")
    assert sizes
    assert all(width > 100 for width in sizes)


@pytest.mark.parametrize("place", ["architecture/", "trainer/", "tutorials/to-trainjob/"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_diagrams_of_a_page_are_drawn(
    browser: Browser, address: str, place: str, scheme: Literal["light", "dark"]
) -> None:
    page = browser.new_page(color_scheme=scheme)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}{place}")
    # The theme replaces the text by a picture; text with a mistake stays.
    page.wait_for_function("document.querySelector('div.mermaid') && !document.querySelector('pre.mermaid')")
    heights = page.locator("div.mermaid").evaluate_all("found => found.map(one => one.offsetHeight)")
    assert all(height > 100 for height in heights), heights
    assert [url for url in asked if not url.startswith(address)] == []
    page.close()


def test_the_button_changes_the_colours(page: Page) -> None:
    colour = "getComputedStyle(document.body).backgroundColor"
    seen = {page.evaluate(colour)}
    for _ in range(2):
        page.locator("form[data-md-component=palette] label:visible").click()
        seen.add(page.evaluate(colour))
    assert len(seen) == 2


@pytest.mark.parametrize(("words", "place"), SEARCHES.items())
def test_the_search_finds_the_page(page: Page, address: str, words: str, place: str) -> None:
    field = page.locator("input[data-md-component=search-query]")
    field.click()
    # The search listens to keys.
    field.press_sequentially(words)
    # A slow machine still shows the results of the first letters: the test waits for those of the whole word.
    page.wait_for_function(
        "([place, first]) => [...document.querySelectorAll('a.md-search-result__link')]"
        ".slice(0, first).some(link => link.href.startsWith(place))",
        arg=[f"{address}{place}", FIRST],
    )


def test_the_playground_lints_in_the_browser_alone(browser: Browser, address: str) -> None:
    page = browser.new_page()
    page.set_default_timeout(BUSY_MILLISECONDS)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}playground/")
    button, output = page.locator("#playground-lint"), page.locator("#playground-output")

    button.click()
    output.filter(has_text="Found ").wait_for()
    assert "error NC005" in output.inner_text()

    page.locator("#playground-text").fill("nodes: 2\ntrain: {script: /app/train.py}\n")
    button.click()
    output.filter(has_text="Nothing found in 1 file").wait_for()
    assert [url for url in asked if not url.startswith((address, "blob:"))] == []
    page.close()
