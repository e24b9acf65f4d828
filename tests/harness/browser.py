"""Chromium without a window, in which tests look at pages as a reader does."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.harness.cluster import host

PROGRAM = "chromium-headless-shell"
PACKAGES = {PROGRAM: (PROGRAM,)}


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start the browser, whose Debian package is installed if it may be; raise `ClusterError` if it may not."""
    host.require_programs(PACKAGES, install=True)
    with sync_playwright() as playwright:
        # Its sandbox does not start as root in a container; the pages are the project's own.
        started = playwright.chromium.launch(executable_path=host.program(PROGRAM), args=["--no-sandbox"])
        yield started
        started.close()
