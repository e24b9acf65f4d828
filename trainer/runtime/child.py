"""A process that ends with the one that has forked it."""

import ctypes
import os
import signal

# Those that somebody sends to a rank, and does not know of its guard.
FORWARDED = (signal.SIGTERM, signal.SIGUSR1)

_PR_SET_PDEATHSIG = 1


def fork() -> int:
    """Returns the number of the new process, and 0 in it. Linux only.

    In the parent the signals `FORWARDED` are blocked afterwards, for it to set handlers that know of the child, which
    has none of the parent's.
    """
    parent = os.getpid()
    # In between, a handler of the parent would swallow the signal.
    signal.pthread_sigmask(signal.SIG_BLOCK, FORWARDED)
    process = os.fork()
    if not process:
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(128 + signal.SIGKILL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for number in FORWARDED:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, FORWARDED)
    return process
