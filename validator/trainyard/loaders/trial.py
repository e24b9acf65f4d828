"""A trial of work on a stranger's files: in a process of its own, with limits of time and memory.

A template of a hundred bytes can count to a billion, double a text forty times, or search with a pattern that never
ends. No limit within the process stops all of that.
"""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

SECONDS = 10
MEBIBYTES = 1024
_OUT_OF_MEMORY = 3


class ExcessiveError(Exception):
    """Work that takes too long or too much memory; `args[0]` says which limit it exceeds."""


def try_out(work: Callable[[], object]) -> None:
    """Does the work in a copy of this process. Work that ends, even by an exception, is within the limits.

    Raises:
        ExcessiveError: It is not.
    """
    process = os.fork()
    if not process:
        _work(work)
    status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
    if status == -signal.SIGXCPU:
        raise ExcessiveError(f"more than {SECONDS} s of processor time")
    if status:
        raise ExcessiveError(f"more than {MEBIBYTES} MiB of memory")


def _used_bytes() -> int:
    """Returns what this process has already of what RLIMIT_DATA counts; 0 where the system does not tell."""
    try:
        pages = Path("/proc/self/statm").read_text("ascii").split()[5]
    except OSError:
        return 0
    return int(pages) * resource.getpagesize()


def _work(work: Callable[[], object]) -> NoReturn:
    status = 0
    try:
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        most = _used_bytes() + (MEBIBYTES << 20)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        work()
    except BaseException as error:
        # The caller meets any other exception again.
        status = _OUT_OF_MEMORY if isinstance(error, MemoryError) else 0
    finally:
        # Without the buffers and the exit handlers of the process that this one is a copy of.
        os._exit(status)
