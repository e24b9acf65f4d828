"""The save of a replica that has lost its peers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from .runtime.supervision import Supervision

# Longer than an update of the weights.
_UPDATE_SECONDS = 1.0
_LOST_PEER_STATUS = 1


class LastSave:
    """Saves what this rank alone has, once, in whichever thread learns first that a peer is gone.

    The training thread learns it from a collective that fails. One of NCCL never fails, and none does if the peer is
    paused or cut off. Then the supervisor asks, and another thread saves while the training thread waits in it.
    """

    def __init__(self, save: Callable[[bool], None], supervision: Supervision) -> None:
        self._save = save
        self._supervision = supervision
        self._weights = threading.Lock()
        # Held until the process ends.
        self._once = threading.Lock()

    def begin_update(self) -> None:
        """Called in the training thread before the weights change."""
        self._weights.acquire()

    def end_update(self) -> None:
        """Called in the training thread once the training state belongs to the weights again."""
        self._weights.release()

    def run(self) -> None:
        """Saves in the training thread, after the error of a collective."""
        self._once.acquire()
        self._supervision.begin_last_save()
        self._save(False)

    def run_and_exit(self, replaces_first: bool) -> None:
        """Saves in a thread of its own and ends the process. During an update of the weights it does nothing."""
        if self._weights.acquire(timeout=_UPDATE_SECONDS):
            self._once.acquire()
            self._supervision.begin_last_save()
            try:
                self._save(replaces_first)
            finally:
                os._exit(_LOST_PEER_STATUS)
