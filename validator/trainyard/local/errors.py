"""How a local run ends before it begins."""

from __future__ import annotations

from validator.mistake import MistakeError


class RefusedError(MistakeError):
    """What the values ask for cannot be run on this machine; `args[0]` says what, and what to write instead."""


class MissingError(Exception):
    """Something that the run needs is not on this machine; `args[0]` says what, and where it belongs."""
