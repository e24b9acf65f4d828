"""A save in the background."""

from __future__ import annotations

import threading
from collections.abc import Callable


class BackgroundSave:
    """Runs `save` in its own thread.

    The thread is a daemon: a process that exits during a save leaves the same files as a crash.
    """

    def __init__(self, save: Callable[[], None]) -> None:
        self._error: BaseException | None = None
        # `save` is not kept as an attribute, so that the memory it holds is freed when it ends.
        self._thread = threading.Thread(target=self._run, args=(save,), name="checkpoint", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Waits for the save to end.

        Raises:
            BaseException: `save` raised it; it concerns more than this save.
        """
        self._thread.join()
        self.check()

    def has_ended(self, *, within: float) -> bool:
        """Waits for the end of the save for so many seconds; returns true if it has ended."""
        self._thread.join(within)
        return not self._thread.is_alive()

    def check(self) -> None:
        """Raises what `save` raised so far, without waiting."""
        if self._error is not None:
            raise self._error

    def _run(self, save: Callable[[], None]) -> None:
        try:
            save()
        # Only the training thread can end the run, so `wait` and `check` raise it there.
        except BaseException as error:
            self._error = error
