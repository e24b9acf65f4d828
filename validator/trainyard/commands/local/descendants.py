"""All descendants of this process, whatever their session: none of them may outlive it."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

# linux/prctl.h
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
# A process that the kernel does not release, such as one that waits for a lost file server, would block us as well.
_PATIENCE_SECONDS = 5
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class Descendants:
    """All descendants of this process that were not there before.

    Torchrun's workers are in sessions of their own, and become orphans when torchrun is killed. On Linux this process
    then adopts them, as a child subreaper, and finds them.
    """

    def __init__(self) -> None:
        if _LIBC is not None:
            _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._others = set(_descendants(os.getpid()))

    def leave(self) -> None:
        """Stops adopting orphans."""
        if _LIBC is not None:
            _LIBC.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def kill(self) -> None:
        """Kills all of them, and the processes that they start meanwhile."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while (found := set(_descendants(os.getpid())) - self._others) and time.monotonic() < until:
            for process in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)


def follow_parent() -> None:
    """In a child, before its program starts: requests SIGTERM for when its parent is gone, for whatever reason."""
    if _LIBC is not None:
        _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


def _descendants(ancestor: int) -> Iterator[int]:
    """Yields the living descendants. A zombie needs no kill."""
    children: dict[int, list[int]] = {}
    living = set()
    for process, parent, state in _processes():
        children.setdefault(parent, []).append(process)
        if state not in ("Z", "X"):
            living.add(process)
    found = list(children.get(ancestor, ()))
    for process in found:
        found += children.get(process, ())
        if process in living:
            yield process


def _processes() -> Iterator[tuple[int, int, str]]:
    """Yields every process, its parent and its state; none on systems without /proc."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The name, in parentheses, may contain anything.
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            yield int(folder.name), int(parent), state
