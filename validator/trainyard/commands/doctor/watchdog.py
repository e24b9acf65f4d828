"""Comparison of the watchdogs of all ranks: who is behind, and whether the ranks run the same collective."""

from __future__ import annotations

import re
from typing import NamedTuple

from trainyard.commands.doctor.evidence import Line

_WORK = re.compile(r"WorkNCCL\(SeqNum=(\d+), OpType=(\w+)")
_GROUP = re.compile(r"\[PG (?:ID )?(\S+)")
# Ranks call these in different order, or with different peers.
_POINT_TO_POINT = {"SEND", "RECV", "COALESCED", "UNKNOWN"}


class Work(NamedTuple):
    """The collective in which a rank hung."""

    group: str
    number: int
    operation: str
    line: Line


def work(line: Line) -> Work | None:
    """Returns the collective in a message of the watchdog."""
    found = _WORK.search(line.text)
    if found is None or line.origin is None:
        return None
    group = _GROUP.search(line.text)
    return Work(group[1] if group else "", int(found[1]), found[2], line)


def behind(works: list[Work]) -> tuple[Line, str] | None:
    """Returns the line of the rank that the others waited for, and the reason; none if nothing tells it."""
    same = [one for one in works if one.group == works[0].group] if works else []
    if len(same) < 2:
        return None
    lowest = min(one.number for one in same)
    last = [one for one in same if one.number == lowest]
    if len(last) < len(same):
        # Several ranks may wait for one that never reports; then the lowest number says nothing about them.
        return (last[0].line, f"its collective {lowest} is behind those of the others") if len(last) == 1 else None
    if any(one.line.time is None for one in same):
        return None
    latest = max(same, key=lambda one: one.line.time or 0)
    return latest.line, "it was the last one to report the timeout"


def mismatch(works: list[Work]) -> Line | None:
    """Returns a line of a rank that runs another collective than the first one, under the same number."""
    first: dict[tuple[str, int], Work] = {}
    for one in works:
        if one.operation in _POINT_TO_POINT:
            continue
        other = first.setdefault((one.group, one.number), one)
        if other.operation != one.operation:
            return one.line
    return None
