"""Termination by SIGTERM, which is how Kubernetes asks a pod to stop."""

import os
import signal
import threading


def exit_on_sigterm() -> None:
    """From now on SIGTERM ends this process at once with status 143.

    Call before any other thread starts, so that all of them inherit the blocked signal. A thread waits for it because a
    Python signal handler would not run while the main thread is inside a collective, and because the default action
    does not exist for PID 1 of a container. Nothing is lost beyond the current epoch: checkpoints are published whole.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    threading.Thread(target=_wait_and_exit, name="exit-on-sigterm", daemon=True).start()


def _wait_and_exit() -> None:
    signal.sigwait({signal.SIGTERM})
    os._exit(128 + signal.SIGTERM)
