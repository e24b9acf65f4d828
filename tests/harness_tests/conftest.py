"""Fixtures for the harness's tests."""

from __future__ import annotations

import shutil
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.cluster import host

Usage = namedtuple("Usage", "total used free")


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder instead of the user's."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path))
    return tmp_path


@pytest.fixture
def leave_free(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets each file system have so many GiB of free space."""

    def leave(gib: int) -> None:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100 * host.GIB, 0, gib * host.GIB))

    return leave
