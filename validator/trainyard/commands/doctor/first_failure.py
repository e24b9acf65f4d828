"""The rank or pod that failed first, told apart from those that it took down."""

from __future__ import annotations

from typing import NamedTuple

from trainyard.commands.doctor import watchdog
from trainyard.commands.doctor.difference import MISMATCH, Difference
from trainyard.commands.doctor.evidence import Evidence, Line
from trainyard.commands.doctor.torchrun import RootCause


class FirstFailure(NamedTuple):
    """Who failed first, where the logs show it, and how it is known."""

    origin: str
    file: str
    line: int
    reason: str
    confidence: str


def first_failure(
    shown: list[Evidence], works: list[watchdog.Work], roots: list[RootCause], differences: list[Difference]
) -> FirstFailure | None:
    """Returns who failed first. None if the logs do not tell: no prefixes, or several logs without times."""
    if roots:
        root = min(roots, key=lambda one: (one.time is None, one.time or 0))
        sure = len(roots) == 1 or all(one.time is not None for one in roots)
        reason = "torchrun names it as the first observed failure"
        if all(evidence.cause.confidence == "low" for evidence in shown):
            # Each node has such a report, also one whose ranks only lost those of another node.
            sure, reason = False, f"{reason} of its node, and the logs show no cause"
        return FirstFailure(root.rank, root.file, root.line, reason, "high" if sure else "medium")
    named = {evidence.cause.name for evidence in shown}
    if differences and differences[0].cause in named:
        return _differing(differences[0])
    if works and (found := watchdog.behind(works)) is not None:
        line, reason = found
        return _of(line, reason, "medium" if "behind" in reason else "low")
    earliest = _earliest([line for evidence in shown for line in evidence.lines if line.origin is not None])
    if earliest is not None and all(evidence.cause.confidence == "low" for evidence in shown):
        # Ranks that wait for each other time out at the same moment, in any order.
        earliest = earliest._replace(confidence="low")
    return earliest


def _differing(one: Difference) -> FirstFailure | None:
    if one.culprit is None:
        return None
    reason = "it called another collective" if one.cause == MISMATCH else "the others wait for its call"
    return FirstFailure(f"rank {one.culprit}", one.dump.file, one.position, f"{reason} (flight recorder)", "high")


def _earliest(lines: list[Line]) -> FirstFailure | None:
    if not lines:
        return None
    if len({line.origin for line in lines}) == 1:
        return _of(min(lines, key=lambda line: line.order), "no other one has an error of its own", "medium")
    if all(line.time is not None for line in lines):
        return _of(min(lines, key=lambda line: line.time or 0), "its error has the earliest time", "high")
    if len({line.file for line in lines}) == 1:
        return _of(min(lines, key=lambda line: line.order), "its error stands first; the lines have no times", "low")
    return None


def _of(line: Line, reason: str, confidence: str) -> FirstFailure:
    return FirstFailure(line.origin or "", line.file, line.number, reason, confidence)
