"""Termination by SIGTERM, which is how Kubernetes asks a pod to stop."""

import os
import signal
import threading


def exit_on_sigterm() -> None:
    """From now on SIGTERM ends this process at once with status 143. Call from the main thread.

    Python's C handler writes the signal's number to a pipe, in whatever thread the kernel picks, and a thread reads it
    there. A Python handler would not run while the main thread is inside a collective. The default action does not
    exist for PID 1 of a container, so threads that a library starts before the signal is blocked would swallow it.
    Nothing is lost beyond the current epoch: checkpoints are published whole.
    """
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    signal.signal(signal.SIGTERM, lambda *_: None)
    threading.Thread(target=_exit_when_told, args=(reader,), name="exit-on-sigterm", daemon=True).start()


def _exit_when_told(reader: int) -> None:
    while os.read(reader, 1) != bytes([signal.SIGTERM]):
        pass  # another signal that Python handles, such as SIGINT
    os._exit(128 + signal.SIGTERM)
