"""Fixtures for the harness's tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder instead of the user's."""
    monkeypatch.setenv("TRAINYARD_CACHE", str(tmp_path))
    return tmp_path
