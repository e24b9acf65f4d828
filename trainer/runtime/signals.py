"""Graceful termination: Kubernetes sends SIGTERM to stop a pod."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

SIGTERM_STATUS = 128 + signal.SIGTERM


class Termination:
    """Handles SIGTERM from now on. Create it in the main thread.

    Initially the process exits at once with status 143, because there is nothing to save. After `defer` the signal is
    only recorded; the ranks agree on it at their next step boundary. If that does not happen within the grace period,
    because a peer is gone or a step takes too long, the process exits anyway. After `save_begins` it goes on until it
    ends or is killed. After `release` it exits at once again. After `forward` each signal is recorded and forwarded to
    a child, and this process goes on.

    Python's C handler writes the signal number to a pipe, in whichever thread the kernel picks, and a thread reads it
    there. A Python handler would not run while the main thread is in a collective. The default action does not apply to
    PID 1 of a container, so blocking the signal is not an option: threads that a library started earlier would swallow
    it.
    """

    def __init__(self) -> None:
        self._grace_seconds: float | None = None
        self._send: Callable[[], None] | None = None
        self._noted = threading.Event()
        self._saving = threading.Event()
        self._released = threading.Event()
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGTERM, lambda *_: None)
        threading.Thread(target=self._listen, args=(reader,), name="sigterm", daemon=True).start()

    @property
    def requested(self) -> bool:
        """True if this process has received SIGTERM."""
        return self._noted.is_set()

    def defer(self, grace_seconds: float) -> None:
        """Makes SIGTERM end the process only after `grace_seconds`, unless a save has begun."""
        self._grace_seconds = grace_seconds

    def save_begins(self) -> None:
        """Ends the grace period: how long the last save may take is for those who kill the process."""
        self._saving.set()

    def release(self) -> None:
        """Makes a later SIGTERM end the process at once again.

        After an earlier one, the process may still report an error, and exit with its status.
        """
        self._released.set()

    def forward(self, send: Callable[[], None]) -> None:
        """Makes each SIGTERM call `send`, in a thread."""
        self._send = send

    def _listen(self, reader: int) -> None:
        while True:
            if os.read(reader, 1) != bytes([signal.SIGTERM]):
                continue  # another signal with a Python handler, such as SIGINT
            if self._send:
                self._noted.set()
                self._send()
                continue
            if self._grace_seconds is not None and not self._released.is_set():
                self._noted.set()
                if self._saving.wait(self._grace_seconds):
                    self._released.wait()
                    time.sleep(self._grace_seconds)
            os._exit(SIGTERM_STATUS)
