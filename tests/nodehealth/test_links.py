"""Ports of InfiniBand and RoCE adapters, as sysfs shows them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nodehealth.checks.links import LinkCheck
from nodehealth.config import Links
from nodehealth.memory import Memory

MOST = {"symbol_error": 10, "link_downed": 0}


class Sysfs:
    """A copy of the part of sysfs that the check reads."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def port(self, name: str, **files: str) -> None:
        """Write files of a port: state, phys_state, rate, and counters."""
        device, number = name.split("/")
        port = self.folder / "class" / "infiniband" / device / "ports" / number
        for file, text in files.items():
            path = port / file if file in ("state", "phys_state", "rate") else port / "counters" / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")

    def up(self, name: str, rate: str = "400 Gb/sec (4X NDR)") -> None:
        """Write a port that works."""
        self.port(name, state="4: ACTIVE", phys_state="5: LinkUp", rate=rate, symbol_error="0", link_downed="0")

    def down(self, name: str) -> None:
        """Write a port without a link."""
        self.port(name, state="1: DOWN", phys_state="2: Polling")


@pytest.fixture
def sysfs(tmp_path: Path) -> Sysfs:
    """A node with one port that works."""
    made = Sysfs(tmp_path / "sys")
    made.up("mlx5_0/1")
    return made


@pytest.fixture
def check(sysfs: Sysfs, tmp_path: Path) -> Callable[..., LinkCheck]:
    """A function that makes the check of the node, as a new pod of the agent does."""

    def make(clock: Callable[[], float] = lambda: 0.0, *expected: str) -> LinkCheck:
        settings = Links(expected=list(expected), max_per_hour=MOST)
        return LinkCheck(settings, sysfs.folder, Memory(tmp_path / "state"), clock)

    return make


def test_a_port_that_works_has_no_fault(check: Callable[..., LinkCheck]) -> None:
    assert check()() == []


def test_a_node_without_adapters_has_no_fault(tmp_path: Path) -> None:
    assert LinkCheck(Links(), tmp_path / "none", Memory(tmp_path))() == []


def test_a_port_that_was_up_and_is_down_is_a_fault_also_for_a_new_agent(
    sysfs: Sysfs, check: Callable[..., LinkCheck]
) -> None:
    check()()
    sysfs.down("mlx5_0/1")

    (fault,) = check()()

    assert (fault.reason, fault.device) == ("LinkDown", "mlx5_0/1")
    assert fault.message == "port mlx5_0/1 is down (DOWN, Polling)"


def test_a_port_that_never_had_a_cable_is_no_fault_unless_it_is_expected(
    sysfs: Sysfs, check: Callable[..., LinkCheck]
) -> None:
    sysfs.down("mlx5_1/1")

    assert check()() == []
    assert [fault.device for fault in check(lambda: 0.0, "mlx5_0", "mlx5_1")()] == ["mlx5_1/1"]


def test_an_adapter_that_is_gone_is_a_fault(sysfs: Sysfs, check: Callable[..., LinkCheck]) -> None:
    check()()
    (sysfs.folder / "class" / "infiniband").rename(sysfs.folder / "elsewhere")

    assert [(fault.reason, fault.device) for fault in check()()] == [("LinkMissing", "mlx5_0/1")]


def test_a_port_that_became_slower_is_a_fault(sysfs: Sysfs, check: Callable[..., LinkCheck]) -> None:
    one = check()
    one()
    sysfs.up("mlx5_0/1", "100 Gb/sec (1X NDR)")

    assert [fault.message for fault in one()] == ["port mlx5_0/1 runs at 100 Gb/s; it had 400 Gb/s"]


def test_a_counter_is_a_fault_for_an_hour(sysfs: Sysfs, check: Callable[..., LinkCheck]) -> None:
    moment = 0.0
    one = check(lambda: moment)
    # What was counted before the agent came is no news.
    sysfs.port("mlx5_0/1", symbol_error="5000")
    assert one() == []

    moment = 60.0
    sysfs.port("mlx5_0/1", symbol_error="5010")
    assert one() == []
    moment = 120.0
    sysfs.port("mlx5_0/1", symbol_error="5011")
    assert [fault.message for fault in one()] == [
        "symbol_error of port mlx5_0/1 counted 11 in the last hour, more than 10"
    ]
    moment = 3780.0
    assert one() == []


def test_a_counter_that_was_reset_starts_again(sysfs: Sysfs, check: Callable[..., LinkCheck]) -> None:
    one = check()
    sysfs.port("mlx5_0/1", symbol_error="5000")
    one()
    sysfs.port("mlx5_0/1", symbol_error="3")

    assert one() == []


def test_a_memory_that_cannot_be_read_is_empty(tmp_path: Path) -> None:
    (tmp_path / "seen.json").write_text("{damaged")

    memory = Memory(tmp_path)

    assert memory.names("") == []
    assert memory.raise_to("links", 3) == 3
    assert Memory(tmp_path).raise_to("links", 1) == 3
