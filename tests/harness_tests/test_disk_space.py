"""The disk space that a cluster needs before it is created."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.harness.cluster import host
from tests.harness.cluster.errors import ClusterError


def test_a_further_cluster_needs_space_for_its_nodes_alone(tmp_path: Path, leave_free: Callable[[int], None]) -> None:
    leave_free(10)
    host.require_disk_space(tmp_path, built=True)
    with pytest.raises(ClusterError, match=r"has 10\.0 GiB free; binaries, images and nodes need 15 GiB"):
        host.require_disk_space(tmp_path)


def test_too_little_space_for_nodes_is_refused(tmp_path: Path, leave_free: Callable[[int], None]) -> None:
    leave_free(5)
    with pytest.raises(ClusterError, match="nodes need 6 GiB") as refused:
        host.require_disk_space(tmp_path, built=True)
    assert "TRAINYARD_CACHE" in str(refused.value.hint)
