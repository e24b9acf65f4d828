"""The first error of a failed run, among the lines that its nodes wrote to stderr."""

from __future__ import annotations

import re
import signal
import time
from collections import deque
from collections.abc import Iterator
from typing import NamedTuple

from trainyard.commands.doctor import torchrun, tracebacks
from trainyard.commands.doctor.catalogue import causes
from trainyard.commands.doctor.cause import Cause, Level
from trainyard.commands.doctor.causes.programs import EXCEPTION

_MOST = 4000
# A launcher notices the end of a process within a second. Programs handle the errors that stand long before it.
_RECENT_SECONDS = 10
_ERROR = re.compile(rf"(?:^|\s)error: \S|^(?:{EXCEPTION}|[\w.]*Exit)(?::|$)")
# Log lines of PyTorch and torchrun, and the stack of an error in C++ (c10/util/Backtrace.cpp, torch/csrc/Exceptions.h).
_LOGGED = re.compile(
    r"\[?[IWE]\d{4} |Exception raised from .*\(most recent call first\):$|frame #|<omitting python frames>|$"
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
        ended_at = min((line.at for line in self._lines if torchrun.NOTICED.fits(line.text)), default=None)
        written = list(_by_programs(self._lines))
        if ended_at is not None:
            # Once a process has failed, these errors of torchrun on another node are about the node that left.
            written = [line for line in written if not torchrun.OWN_ERROR.fits(line.text)]
        noticed_at = ended_at if ended_at is not None else (self._lines[-1].at if self._lines else 0)
        recent = (line for line in written if line.at >= noticed_at - _RECENT_SECONDS and _is_error(line.text))
        return next(recent, None) or self._killed() or _last(written)

    def _killed(self) -> Line | None:
        rank = ""
        for line in self._lines:
            if (found := torchrun.field(line.text)) is None:
                continue
            if found.name == "rank":
                rank = found.value
            elif number := found.signal:
                ended = f"Signal {number} ({signal.Signals(number).name}) received by PID {found.process}"
                return line._replace(text=f"rank {rank}: {ended}")
        return None


def _by_programs(lines: deque[Line]) -> Iterator[Line]:
    """Yields the lines that the programs wrote in the last attempt, without those about a lost peer."""
    lost_peer = [cause for cause in causes().values() if cause.level is Level.CONSEQUENCE]
    left: dict[str, int] = {}
    for line in lines:
        if torchrun.NOTICED.fits(line.text):
            left[line.node] = left.get(line.node, 0) + 1
    for line in lines:
        if torchrun.NOTICED.fits(line.text):
            left[line.node] -= 1
        elif left.get(line.node, 1) == 1 and not _is_about(line.text, lost_peer):
            yield line


def _is_about(text: str, kinds: list[Cause]) -> bool:
    return any(cause.in_line(text) for cause in kinds)


def _is_error(text: str) -> bool:
    return _ERROR.search(tracebacks.without_prefix(text)) is not None


def _last(lines: list[Line]) -> Line | None:
    """Returns the last message of a program that exits by itself."""
    return next((line for line in reversed(lines) if _is_message(tracebacks.without_prefix(line.text))), None)


def _is_message(text: str) -> bool:
    return not tracebacks.is_part(text) and _LOGGED.match(text) is None
