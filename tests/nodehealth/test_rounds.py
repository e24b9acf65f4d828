"""Rounds of checks, their confirmation, and the condition."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

from nodehealth import condition
from nodehealth.fault import CannotCheckError, Fault
from nodehealth.rounds import Confirmation, Rounds

FAULT = Fault("disks", "scratch", "DiskFull", "disk scratch is full")
NOON = datetime(2026, 1, 31, 12, tzinfo=UTC)


def test_a_check_that_hangs_is_a_fault_and_does_not_hold_up_the_others() -> None:
    released = threading.Event()
    began: list[int] = []

    def hang() -> list[Fault]:
        began.append(1)
        released.wait(60)
        return []

    rounds = Rounds({"gpu": hang, "disks": lambda: [FAULT]}, timeout=0.05)

    for _ in range(2):
        found = rounds.run()
        assert [fault.reason for fault in found.faults] == ["CheckHangs", "DiskFull"]
    assert len(began) == 1, "a second thread would hang as well"
    released.set()
    rounds = Rounds({"disks": list}, timeout=5)
    assert rounds.run().faults == []


def test_a_check_that_fails_is_unknown_and_the_others_count() -> None:
    def fail() -> list[Fault]:
        raise ValueError("broken")

    def cannot() -> list[Fault]:
        raise CannotCheckError("NVML cannot be used")

    found = Rounds({"links": fail, "gpu": cannot, "disks": lambda: [FAULT]}, timeout=5).run()

    assert found.faults == [FAULT]
    assert found.unknown == {"links": "the check failed: ValueError: broken", "gpu": "NVML cannot be used"}


def test_a_fault_counts_after_several_rounds_in_a_row() -> None:
    confirmation = Confirmation(2)

    assert confirmation.confirmed([FAULT]) == ([], True)
    assert confirmation.confirmed([]) == ([], False)
    assert confirmation.confirmed([FAULT]) == ([], True)
    assert confirmation.confirmed([FAULT._replace(message="fuller")]) == ([FAULT._replace(message="fuller")], False)


def test_the_condition_names_all_faults_and_keeps_its_time() -> None:
    state = condition.state([FAULT, FAULT._replace(device="b", message="disk b is full")], {"gpu": "no NVML"})
    first = condition.condition(state, None, NOON)
    second = condition.condition(state, first, NOON + timedelta(minutes=5))
    third = condition.condition(condition.state([], {}), second, NOON + timedelta(minutes=6))

    assert (first["status"], first["reason"]) == ("False", "DiskFull")
    assert first["message"] == "disk scratch is full; disk b is full"
    assert second["lastTransitionTime"] == first["lastTransitionTime"] == "2026-01-31T12:00:00Z"
    assert second["lastHeartbeatTime"] == "2026-01-31T12:05:00Z"
    assert (third["status"], third["lastTransitionTime"]) == ("True", "2026-01-31T12:06:00Z")


def test_a_node_that_cannot_be_checked_is_unknown() -> None:
    assert condition.state([], {"xid": "no log"}) == ("Unknown", "CannotCheck", "xid: no log")


def test_a_long_message_is_cut() -> None:
    faults = [FAULT._replace(message=f"disk {number} is full") for number in range(200)]

    assert len(condition.state(faults, {})[2]) == condition.LONGEST
