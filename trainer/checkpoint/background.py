"""A save that goes on while the run trains."""

import threading
from collections.abc import Callable


class BackgroundSave:
    """Runs `save` in a thread of its own.

    The process does not stay for it: a rank that ends in the middle of a save leaves what a crash leaves.
    """

    def __init__(self, save: Callable[[], None]) -> None:
        self._error: BaseException | None = None
        # Handed over, not kept: what it holds is free when it is done.
        self._thread = threading.Thread(target=self._run, args=(save,), name="checkpoint", daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Returns when it has ended. Raises what `save` raised, which is no failure of this save alone."""
        self._thread.join()
        self.check()

    def check(self) -> None:
        """Raises what `save` raised, if it has. Does not wait."""
        if self._error is not None:
            raise self._error

    def _run(self, save: Callable[[], None]) -> None:
        try:
            save()
        # Raised again in the training thread, which alone can end the run.
        except BaseException as error:
            self._error = error
