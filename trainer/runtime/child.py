"""Forking a child process that ends with its parent."""

from __future__ import annotations

import ctypes
import os
import signal

# Signals that the supervisor forwards to its child.
FORWARDED_SIGNALS = (signal.SIGTERM, signal.SIGUSR1)

_PR_SET_PDEATHSIG = 1


def fork_child() -> int:
    """Forks this process; the kernel kills the child when its parent ends. Linux only.

    `FORWARDED_SIGNALS` stay blocked in this thread until the parent unblocks them: it forwards them first. The child
    starts with default handlers.

    Returns:
        The child's process ID in the parent, 0 in the child.
    """
    parent = os.getpid()
    # A signal that arrives during the fork would be lost in a handler of the parent.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED_SIGNALS)
    process = os.fork()
    if not process:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in FORWARDED_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED_SIGNALS)
    return process
