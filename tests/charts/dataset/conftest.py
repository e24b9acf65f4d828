"""A server, and a volume to fill."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A web server of this test's own."""
    with Server() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where the data belongs on an empty volume."""
    volume = tmp_path / "volume"
    volume.mkdir()
    return volume / "flowers"
