"""Messages between a rank and its supervisor, by pipes and in memory that both share."""

from __future__ import annotations

import mmap
import os
import struct
import threading
from collections.abc import Callable
from contextlib import suppress
from enum import IntEnum

from ..errors import TrainerError
from .error_file import is_of_lost_peer


class Cause(IntEnum):
    """Where the cause of a failure is."""

    RANK = 0
    """In this rank: an exception, or an end without one."""
    PEER = 1
    """In another rank or the network: a collective has failed."""
    RUN = 2
    """In the run: another attempt would end in the same way."""


class SaveState(IntEnum):
    """Progress of the save of a rank that has lost its peers."""

    UNAVAILABLE = 0
    """The rank does not train yet, or holds only a part of the state."""
    AVAILABLE = 1
    """The supervisor may ask for it."""
    RUNNING = 2
    """The rank saves, and then ends."""


class Supervision:
    """Messages of a rank to its supervisor. This one is of a rank without a supervisor, and does nothing."""

    def joined(self, rendezvous_id: str) -> None:
        """Called once all ranks have joined."""

    def step_done(self, step: int) -> None:
        """Called after each step."""

    def serve_last_save(self, save: Callable[[bool], None]) -> None:
        """Calls `save` in a thread of its own when the supervisor is about to end this rank, because a peer is lost.

        Its argument is true if the first node is lost, and this rank becomes rank 0.
        """

    def begin_last_save(self) -> None:
        """Called before the save of a rank that has lost its peers: the supervisor waits for its end."""


UNSUPERVISED = Supervision()

# The last step and the cause; then the state of the last save.
_CONTENT = struct.Struct("=qB")
_LAST_SAVE = _CONTENT.size
# Requests of the last save.
_GOES_ON = b"g"
_REPLACES_FIRST = b"f"


class SupervisedRank(Supervision):
    """The supervision of all attempts of a rank. The supervisor creates it, and both have it after the fork.

    A fault of hardware strikes at any step, and a bug at the same one again. So a rank that did not go further than in
    its last attempt does not start again.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _LAST_SAVE + 1)
        self._step_before = 0

    def begin_attempt(self) -> None:
        """Called by the supervisor before it forks the rank."""
        self._step_before = max(self._step_before, self._content[0])
        _CONTENT.pack_into(self._memory, 0, 0, Cause.RANK)
        self._memory[_LAST_SAVE] = SaveState.UNAVAILABLE
        self._name_reader, self._name_writer = os.pipe()
        self._request_reader, self._request_writer = os.pipe()

    def enter_rank(self) -> None:
        """Called by the rank after the fork."""
        os.close(self._name_reader)
        os.close(self._request_writer)

    def enter_supervisor(self) -> None:
        """Called by the supervisor after the fork."""
        os.close(self._name_writer)
        os.close(self._request_reader)

    def end_attempt(self) -> None:
        """Called by the supervisor when the rank has ended, and is not asked to save any more."""
        os.close(self._request_writer)

    def joined(self, rendezvous_id: str) -> None:
        """Sends the ID to the supervisor."""
        os.write(self._name_writer, rendezvous_id.encode())
        os.close(self._name_writer)

    def read_rendezvous_id(self) -> str:
        """Waits in the supervisor until the rank has joined; returns "" if it ends before."""
        with os.fdopen(self._name_reader) as pipe:
            return pipe.read()

    def step_done(self, step: int) -> None:
        """Stores the step."""
        _CONTENT.pack_into(self._memory, 0, step, Cause.RANK)

    def failed(self, error: Exception) -> None:
        """Called by the rank when it ends with an error."""
        cause = Cause.RUN if isinstance(error, TrainerError) else Cause.PEER if is_of_lost_peer(error) else Cause.RANK
        _CONTENT.pack_into(self._memory, 0, self._content[0], cause)

    @property
    def cause(self) -> Cause:
        """The cause of the failure of this attempt."""
        step, cause = self._content
        return Cause(cause) if step > self._step_before else Cause.RUN

    def serve_last_save(self, save: Callable[[bool], None]) -> None:
        """Starts a thread that waits for a request."""

        def wait() -> None:
            if request := os.read(self._request_reader, 1):
                save(request == _REPLACES_FIRST)

        threading.Thread(target=wait, name="last save", daemon=True).start()
        self._memory[_LAST_SAVE] = SaveState.AVAILABLE

    def begin_last_save(self) -> None:
        """Stores that the save has begun."""
        self._memory[_LAST_SAVE] = SaveState.RUNNING

    def request_last_save(self, *, replaces_first: bool) -> None:
        """Called by the supervisor, at most once in each attempt."""
        with suppress(BrokenPipeError):  # the rank has ended
            os.write(self._request_writer, _REPLACES_FIRST if replaces_first else _GOES_ON)

    @property
    def last_save(self) -> SaveState:
        """Progress of the last save."""
        return SaveState(self._memory[_LAST_SAVE])

    @property
    def _content(self) -> tuple[int, int]:
        step, cause = _CONTENT.unpack_from(self._memory)
        return step, cause
