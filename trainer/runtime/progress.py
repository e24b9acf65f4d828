"""What a rank tells its supervisor, in memory that both share."""

from __future__ import annotations

import mmap
import struct
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


# The last step, and the cause.
_CONTENT = struct.Struct("=qB")


class Progress:
    """The last step of a rank, and the cause of its failure.

    A fault of hardware strikes at any step, and a bug at the same one again. So a rank that did not go further than in
    its last attempt does not start again.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _CONTENT.size)
        self._step_before = 0

    def step_done(self, step: int) -> None:
        """Called by the rank after each step."""
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

    def begin_attempt(self) -> None:
        """Called by the supervisor before it forks the rank."""
        self._step_before = max(self._step_before, self._content[0])
        _CONTENT.pack_into(self._memory, 0, 0, Cause.RANK)

    @property
    def _content(self) -> tuple[int, int]:
        step, cause = _CONTENT.unpack_from(self._memory)
        return step, cause
