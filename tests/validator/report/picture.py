"""Draws docs/report.png: the report of the run in these tests. `python -m tests.validator.report.picture` writes it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from playwright.sync_api import ViewportSize

from tests.harness.browser import chromium
from tests.validator.report.test_command import resumed_run
from trainyard.cli import main

PICTURE = Path(__file__).parents[3] / "docs" / "report.png"
SIZE = ViewportSize(width=1080, height=1250)


def draw() -> None:
    """Write the picture."""
    os.environ["NO_PROXY"] = "127.0.0.1"
    api = resumed_run()
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        file = Path(folder) / "steps.html"
        kubeconfig = api.kubeconfig(file.parent)
        main.main(["report", "steps", "--namespace", "demo", "--kubeconfig", kubeconfig, "-o", str(file)])
        page = browser.new_page(viewport=SIZE)
        page.goto(file.as_uri())
        page.screenshot(path=PICTURE)
    api.stop()


if __name__ == "__main__":
    draw()
