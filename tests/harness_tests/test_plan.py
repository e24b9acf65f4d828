"""The plan that the demo prints before it builds: parts, time, disk space and logs; and how it counts them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.cluster import plan, progress
from tests.harness.cluster.cluster import Cluster


def test_an_empty_cache_is_announced_with_parts_time_disk_and_logs(
    own_cache: Path, leave_free: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    leave_free(20)
    with plan.announced(Cluster()):
        pass
    said = capsys.readouterr().err
    count = len(plan.parts())
    assert f"{count} of {count} parts are built now and kept in {own_cache}" in said
    assert "about 20 min on 2 cores" in said
    assert "Disk: 15 GiB needed, 20 GiB free." in said
    assert f"Logs: {own_cache}/logs" in said


def test_a_full_cache_needs_no_announcement(own_cache: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for part in plan.parts():
        part.entry.mkdir(parents=True)
    with plan.announced(Cluster()):
        pass
    assert capsys.readouterr().err.splitlines() == [f"Logs: {own_cache}/logs"]


def test_expected_steps_are_numbered_with_the_time_that_is_left(capsys: pytest.CaptureFixture[str]) -> None:
    with progress.counted({"building a": 60, "building b": 240}):
        for title in ("building b", "loading c", "building a", "building a"):
            with progress.step(title):
                pass
    starts = [line for line in capsys.readouterr().err.splitlines() if line.startswith("…")]
    assert starts == [
        "… building b (part 1 of 2, about 5 min left)",
        "… loading c",
        "… building a (part 2 of 2, about 1 min left)",
        "… building a",
    ]
