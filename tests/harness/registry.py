"""A container registry on this machine, for tests that push and pull."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import tenacity

from tests.harness.cluster.tools import binary
from tests.harness.ports import free_port
from tests.harness.services import serving


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """Serve a registry that keeps everything in a folder, and yield its address, `127.0.0.1:PORT`."""
    address = f"127.0.0.1:{free_port()}"
    storage = {"filesystem": {"rootdirectory": str(folder / "data")}}
    (folder / "config.yml").write_text(json.dumps({"version": 0.1, "storage": storage, "http": {"addr": address}}))
    with serving([binary("registry"), "serve", folder / "config.yml"], folder / "log"):
        _wait(address)
        yield address


@tenacity.retry(
    retry=tenacity.retry_if_exception_type(OSError), wait=tenacity.wait_fixed(0.1), stop=tenacity.stop_after_delay(60)
)
def _wait(address: str) -> None:
    connection = http.client.HTTPConnection(address, timeout=5)
    connection.request("GET", "/v2/")
    assert connection.getresponse().status == 200
