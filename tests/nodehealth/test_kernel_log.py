"""XIDs in the kernel's log."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nodehealth.checks.kernel_log import KernelLogCheck, boot_time
from nodehealth.config import KernelLog
from nodehealth.fault import CannotCheckError, Fault

LOST = "4,{number},{time},-;NVRM: Xid (PCI:0000:10:1c): 79, pid=1896, GPU has fallen off the bus.\n"
USER = "4,{number},{time},-;NVRM: Xid (PCI:0000:10:1c): 31, pid=77, name=python3, Ch 00000008, MMU Fault\n"
NOISE = "6,100,1,-;usb 1-1: new high-speed USB device\n SUBSYSTEM=usb\n DEVICE=c189:1\n"
SETTINGS = KernelLog(xids=[48, 79])


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A file in place of /dev/kmsg."""
    file = tmp_path / "kmsg"
    file.write_text(NOISE)
    return file


def add(log: Path, line: str, number: int = 200, time: int = 5_000_000) -> None:
    """Append a record to the log."""
    with log.open("a") as opened:
        opened.write(line.format(number=number, time=time))


def never() -> datetime | None:
    return None


def test_an_xid_of_the_list_is_a_fault_until_the_node_boots(log: Path) -> None:
    check = KernelLogCheck(SETTINGS, log, never)
    assert check() == []
    add(log, LOST)
    expected = Fault(
        "xid",
        "PCI:0000:10:1c",
        "Xid79",
        "GPU PCI:0000:10:1c reported XID 79: pid=1896, GPU has fallen off the bus.",
    )

    assert check() == [expected]
    assert check() == [expected]
    assert KernelLogCheck(SETTINGS, log, never)() == [expected]


def test_an_xid_of_a_program_is_no_fault(log: Path) -> None:
    add(log, USER)

    assert KernelLogCheck(SETTINGS, log, never)() == []


def test_a_log_that_begins_again_has_forgotten_its_xids(log: Path) -> None:
    check = KernelLogCheck(SETTINGS, log, never)
    add(log, LOST)
    assert check()
    log.write_text("6,1,1,-;Linux version 6.12\n")

    assert check() == []


def test_an_xid_before_the_repair_is_no_fault_and_one_after_it_is(log: Path) -> None:
    booted = boot_time()
    repaired = booted + timedelta(seconds=60)
    check = KernelLogCheck(SETTINGS, log, lambda: repaired)
    add(log, LOST, 200, 30_000_000)
    assert check() == []

    add(log, LOST, 300, 90_000_000)

    assert [fault.reason for fault in check()] == ["Xid79"]


def test_half_a_record_waits_for_its_end(log: Path) -> None:
    check = KernelLogCheck(SETTINGS, log, never)
    whole = LOST.format(number=1, time=1)
    add(log, whole[:30])
    assert check() == []
    add(log, whole[30:])

    assert len(check()) == 1


def test_a_log_of_single_records_is_read_to_its_end(tmp_path: Path) -> None:
    """/dev/kmsg returns one record for each read, and would wait for the next without O_NONBLOCK."""
    pipe = tmp_path / "kmsg"
    os.mkfifo(pipe)
    reader = KernelLogCheck(SETTINGS, pipe, never)
    assert reader() == []
    with pipe.open("w") as writer:
        writer.write(LOST.format(number=1, time=1))
        writer.flush()

        assert [fault.reason for fault in reader()] == ["Xid79"]


def test_a_log_that_cannot_be_read_says_what_to_write(tmp_path: Path) -> None:
    with pytest.raises(CannotCheckError, match=r"sources\.kernelLog, or checks\.xid\.enabled: false"):
        KernelLogCheck(SETTINGS, tmp_path / "none", never)()


def test_the_time_of_the_boot_is_in_the_past() -> None:
    assert boot_time() <= datetime.now(UTC)
