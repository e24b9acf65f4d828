"""The first error of a failed run, among the lines that its nodes wrote to stderr."""

from __future__ import annotations

import re
import time
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.doctor.catalogue import causes
from trainyard.doctor.cause import Cause, Level

_MOST = 4000
# A launcher notices the end of a process within a second. Programs handle the errors that stand long before it.
_RECENT_SECONDS = 10
# torch/distributed/elastic/multiprocessing/api.py, when a process has failed; its report follows.
_NOTICED = re.compile(r"\] failed \(exitcode: ")
# Torch's prefix of a rank before an uncaught exception.
_ERROR = re.compile(r"(?:^|\s)error: \S|^(?:\[\w+\]:? *)*(?:\w+\.)*[A-Z]\w*(?:Error|Exception|Exit)(?::|$)")
_RANK = re.compile(r"^\s*rank\s*: (\d+) ")
# The launcher ends the other processes of a node with SIGTERM, number 15.
_KILLED = re.compile(r"^\s*traceback : (Signal (?!15\b)\d+ .*)")
# Once a process has failed, these errors of torchrun on another node are about the node that left.
_OF_LAUNCHER = re.compile(r"torch\.distributed\.(?:elastic\.\w|Dist\w+Error)")
# Log lines of PyTorch and torchrun, and tracebacks, whose exception is about a lost peer.
_NO_MESSAGE = re.compile(
    r"^(?:\[\w+\]:? ?)*(?:\[?[IWE]\d{4} |\s|Traceback |The above exception was |During handling of |frame #|$)"
)


class Line(NamedTuple):
    """A line, the node that wrote it, and the time of its arrival."""

    node: str
    text: str
    at: float


class ErrorLog:
    """The last lines of all nodes, in the order of their arrival."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque(maxlen=_MOST)

    def add(self, node: str, text: str) -> None:
        """Adds a line."""
        self._lines.append(Line(node, text, time.monotonic()))

    def first(self) -> Line | None:
        """Returns the error of the rank that failed first; None if the nodes wrote none.

        Errors of ranks that lost a peer are not considered: they may come before the error of that peer.
        """
        ended_at = min((line.at for line in self._lines if _NOTICED.search(line.text)), default=None)
        written = [line for line in _by_programs(self._lines) if ended_at is None or not _OF_LAUNCHER.search(line.text)]
        noticed_at = ended_at if ended_at is not None else (self._lines[-1].at if self._lines else 0)
        recent = (line for line in written if line.at >= noticed_at - _RECENT_SECONDS and _ERROR.search(line.text))
        return next(recent, None) or self._killed() or _last(written)

    def _killed(self) -> Line | None:
        rank = ""
        for line in self._lines:
            if found := _RANK.match(line.text):
                rank = found[1]
            elif found := _KILLED.match(line.text):
                return line._replace(text=f"rank {rank}: {found[1]}")
        return None


def _by_programs(lines: deque[Line]) -> Iterator[Line]:
    """Yields the lines that the programs wrote in the last attempt, without those about a lost peer."""
    lost_peer = [cause for cause in causes().values() if cause.level is Level.CONSEQUENCE]
    left: dict[str, int] = {}
    for line in lines:
        if _NOTICED.search(line.text):
            left[line.node] = left.get(line.node, 0) + 1
    for line in lines:
        if _NOTICED.search(line.text):
            left[line.node] -= 1
        elif left.get(line.node, 1) == 1 and not _is_about(line.text, lost_peer):
            yield line


def _is_about(text: str, kinds: list[Cause]) -> bool:
    return any(cause.in_line(text) for cause in kinds)


def _last(lines: list[Line]) -> Line | None:
    """Returns the last message of a program that exits by itself."""
    return next((line for line in reversed(lines) if not _NO_MESSAGE.match(line.text)), None)
