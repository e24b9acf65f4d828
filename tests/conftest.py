"""Hypothesis profile: the same examples in every run, and no deadline that a busy machine could miss.

Processes that tests share end with the session.
"""

from __future__ import annotations

from hypothesis import settings

from tests.harness.trainer import fork_server

settings.register_profile("trainyard", deadline=None, derandomize=True)
settings.load_profile("trainyard")


def pytest_sessionfinish() -> None:
    """Ends the processes that tests share."""
    fork_server.stop()
