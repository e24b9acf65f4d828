"""Fixtures for the tests of nodehealth."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.nodehealth.api_server import ApiServer


@pytest.fixture
def server() -> Iterator[ApiServer]:
    """An API server without nodes."""
    made = ApiServer()
    yield made
    made.stop()
