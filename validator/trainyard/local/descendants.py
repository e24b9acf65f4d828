"""The processes that descend from this one, wherever they have gone: none of them may outlive it."""

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
# A process that the kernel does not let go of, such as one that waits for a lost file server, would hold us as well.
_PATIENCE_SECONDS = 5
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None


class Family:
    """All descendants of this process that were not there before.

    Torchrun's workers are in sessions of their own, and become orphans when torchrun is killed: on Linux they are then
    given to this process, which finds them.
    """

    def __init__(self) -> None:
        if _LIBC is not None:
            _LIBC.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self._others = set(_descendants(os.getpid()))

    def leave(self) -> None:
        """Let orphans go to where they went before."""
        if _LIBC is not None:
            _LIBC.prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)

    def kill(self) -> None:
        """Kill all of them, and those that they start meanwhile."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while (found := set(_descendants(os.getpid())) - self._others) and time.monotonic() < until:
            for process in found:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)


def follow_parent() -> None:
    """For a child, before its program starts: SIGTERM when its parent is gone, however that came."""
    if _LIBC is not None:
        _LIBC.prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)


def _descendants(ancestor: int) -> Iterator[int]:
    """Those that live; of one that only waits to be asked for its exit status nothing is left to kill."""
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
    """Every process, its parent and its state; none where the system does not tell of them in /proc."""
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            # The name, in brackets, may hold anything.
            state, parent = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()[:2]
            yield int(folder.name), int(parent), state
