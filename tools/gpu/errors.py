"""Results of a check that does not pass, and errors of the call."""

from __future__ import annotations


class GpuError(Exception):
    """The checks cannot start. The message says what to write or to install."""


class CheckFailedError(Exception):
    """The check failed."""


class NotRunError(Exception):
    """The check did not run, because the machine lacks what it needs."""
