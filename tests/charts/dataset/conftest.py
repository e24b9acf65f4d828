"""Fixtures: a web server and a volume."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.charts.dataset.server import Server


@pytest.fixture
def server() -> Iterator[Server]:
    """A web server for one test."""
    with Server() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The path of the data set on an empty volume."""
    volume = tmp_path / "volume"
    volume.mkdir()
    return volume / "flowers"
