"""Errors before a local run starts."""

from __future__ import annotations

from trainyard.document.errors import MistakeError


class RunRefusedError(MistakeError):
    """The values cannot be run on this machine; `args[0]` gives the reason and the remedy."""


class MissingProgramError(Exception):
    """Something that the run needs is not on this machine; `args[0]` says what, and where it belongs."""
