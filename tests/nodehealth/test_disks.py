"""Disks of a node."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from nodehealth.checks.disks import DiskCheck
from nodehealth.config import Disks


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 1 MiB; mounting it needs root, as building the node image does."""
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,nr_inodes=64", "tmpfs", str(folder)], check=True)
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def reasons(folder: Path) -> list[str]:
    return [fault.reason for fault in DiskCheck(Disks(paths={"scratch": str(folder)}, min_free_percent=5))()]


def test_a_disk_that_takes_a_write_has_no_fault_and_keeps_nothing(tmp_path: Path) -> None:
    assert [fault for fault in reasons(tmp_path) if fault != "DiskFull"] == []
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_gone_is_a_fault(tmp_path: Path) -> None:
    assert reasons(tmp_path / "none") == ["DiskUnreadable"]


def test_a_file_system_that_became_read_only_is_a_fault(disk: Path) -> None:
    assert reasons(disk) == []
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

    assert reasons(disk) == ["DiskReadOnly"]


def test_a_full_disk_is_a_fault_of_space_and_of_the_write(disk: Path) -> None:
    (disk / "data").write_bytes(b"x" * (1 << 20))

    assert reasons(disk) == ["DiskFull", "DiskWriteFailed"]


def test_a_disk_without_inodes_is_a_fault(disk: Path) -> None:
    for number in range(62):
        (disk / str(number)).touch()

    (first, *_) = DiskCheck(Disks(paths={"scratch": str(disk)}))()

    assert (first.reason, first.message) == ("DiskFull", "disk scratch has 1.6% of its inodes free, less than 5%")
