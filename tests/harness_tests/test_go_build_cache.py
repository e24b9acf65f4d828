"""Go's build cache stays between builds, unless the disk gets full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.cluster import go_build_cache


@pytest.fixture
def built(own_cache: Path) -> Path:
    """An object of an earlier build."""
    path = go_build_cache.folder() / "00" / "object"
    path.parent.mkdir(parents=True)
    path.write_text("object")
    return path


def test_a_build_finds_the_objects_of_earlier_builds(built: Path, leave_free: Callable[[int], None]) -> None:
    leave_free(20)
    with go_build_cache.building():
        assert built.exists()


def test_a_build_on_a_full_disk_drops_the_objects_of_earlier_builds(
    built: Path, leave_free: Callable[[int], None]
) -> None:
    leave_free(5)
    with go_build_cache.building():
        assert not built.exists()


def test_objects_stay_for_further_builds_unless_the_disk_gets_full(
    built: Path, leave_free: Callable[[int], None]
) -> None:
    with go_build_cache.wanted():
        go_build_cache.drop()
        assert built.exists()
        leave_free(5)
        with go_build_cache.building():
            assert not built.exists()


def test_nothing_is_dropped_while_another_process_builds(built: Path, leave_free: Callable[[int], None]) -> None:
    leave_free(20)
    with go_build_cache.building():
        leave_free(5)
        with go_build_cache.building():
            assert built.exists()
        go_build_cache.drop()
        assert built.exists()
    go_build_cache.drop()
    assert not built.exists()
