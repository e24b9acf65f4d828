"""The disk space that a cluster needs before it is created."""

from __future__ import annotations

import shutil
from collections import namedtuple
from pathlib import Path

import pytest

from tests.harness.cluster import host
from tests.harness.cluster.errors import ClusterError

Usage = namedtuple("Usage", "total used free")


def leave_free(monkeypatch: pytest.MonkeyPatch, gib: int) -> None:
    """Let each file system have this much space."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(100 * host.GIB, 0, gib * host.GIB))


def test_a_further_cluster_needs_space_for_its_nodes_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_free(monkeypatch, 10)
    host.require_disk_space(tmp_path, built=True)
    with pytest.raises(ClusterError, match=r"has 10\.0 GiB free; binaries, images and nodes need 15 GiB"):
        host.require_disk_space(tmp_path)


def test_too_little_space_for_nodes_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_free(monkeypatch, 5)
    with pytest.raises(ClusterError, match="nodes need 6 GiB") as refused:
        host.require_disk_space(tmp_path, built=True)
    assert "TRAINYARD_CACHE" in str(refused.value.hint)
