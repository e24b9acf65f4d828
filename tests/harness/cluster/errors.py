"""The one exception that a user of the harness is meant to read."""

from __future__ import annotations

from pathlib import Path


class ClusterError(Exception):
    """A failure with its cause, what to do about it and, where a step failed, the step's log.

    The command line prints it without a traceback and exits 1.
    """

    def __init__(self, message: str, *, hint: str = "", log: Path | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.log = log
