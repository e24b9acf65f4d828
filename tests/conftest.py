"""Hypothesis profile: the same examples in every run, and no deadline that a busy machine could miss.

Tests that wait for processes or pods run once more if they fail, and the report keeps the first failure. Processes that
tests share end with the session.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from hypothesis import settings

from tests.harness.trainer import fork_server

# As the command line does: collections take a quarter of the time of the linter's tests, and a fifth of pytest's start.
gc.set_threshold(100_000, 50, 1000)

settings.register_profile("trainyard", deadline=None, derandomize=True)
settings.load_profile("trainyard")

RUN_TWICE = tuple(Path(__file__).parent / folder for folder in ("e2e", "trainer"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Repeats a failed test of these folders once: dozens of containers share two processors with it."""
    for item in items:
        if any(item.path.is_relative_to(folder) for folder in RUN_TWICE):
            item.add_marker(pytest.mark.flaky(reruns=1))


def pytest_collection_finish() -> None:
    """Exempts tests and modules from garbage collection, which took a quarter of the time of the linter's tests."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints why tests failed at first: each is a defect, of the test or of what it tests."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"{report.nodeid} failed, and was repeated", sep="_")
        terminalreporter.write_line(report.longreprtext)


def pytest_sessionfinish() -> None:
    """Ends the processes that tests share."""
    fork_server.stop()
