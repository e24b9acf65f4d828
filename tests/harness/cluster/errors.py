"""The exception for errors that a user of the harness can fix."""

from __future__ import annotations

from pathlib import Path


class ClusterError(Exception):
    """A failure: its cause, a hint at the remedy and, if a step failed, the step's log.

    The command line prints it without a traceback and exits 1.
    """

    def __init__(self, message: str, *, hint: str = "", log: Path | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.log = log
