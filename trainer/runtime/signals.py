"""Termination by SIGTERM, which is how Kubernetes asks a pod to stop."""

import os
import signal
import threading

STATUS = 128 + signal.SIGTERM


class Termination:
    """Answers SIGTERM from now on. Make it in the main thread.

    At first the process ends at once, with status 143, as there is nothing to lose. After `defer` the signal is only
    noted, for the ranks to agree on at their next step boundary; if that does not come in time, because a peer is gone
    or a step takes too long, the process ends all the same. After `release` it ends at once again.

    Python's C handler writes the signal's number to a pipe, in whatever thread the kernel picks, and a thread reads it
    there. A Python handler would not run while the main thread is inside a collective. The default action does not
    exist for PID 1 of a container, so threads that a library starts before the signal is blocked would swallow it.
    """

    def __init__(self) -> None:
        self._grace_seconds: float | None = None
        self._noted = threading.Event()
        self._released = threading.Event()
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        signal.set_wakeup_fd(writer)
        signal.signal(signal.SIGTERM, lambda *_: None)
        threading.Thread(target=self._listen, args=(reader,), name="sigterm", daemon=True).start()

    @property
    def requested(self) -> bool:
        """Whether this process was told to end."""
        return self._noted.is_set()

    def defer(self, grace_seconds: float) -> None:
        """From now on the signal is noted, and ends the process `grace_seconds` later."""
        self._grace_seconds = grace_seconds

    def release(self) -> None:
        """There is nothing to lose any more."""
        self._released.set()

    def _listen(self, reader: int) -> None:
        while os.read(reader, 1) != bytes([signal.SIGTERM]):
            pass  # another signal that Python handles, such as SIGINT
        if self._grace_seconds is not None:
            self._noted.set()
            self._released.wait(self._grace_seconds)
        os._exit(STATUS)
