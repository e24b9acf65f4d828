"""Chromium without a window, in which tests look at pages as a reader does, and a web server of a folder."""

from __future__ import annotations

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

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


class _Handler(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve the files of a folder on this machine, and yield the address of its `index.html`."""
    handler = functools.partial(_Handler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
