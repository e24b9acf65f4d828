"""Errors of a template."""

from __future__ import annotations

from gotemplate.origin import Origin


class UnsupportedError(Exception):
    """A template that is invalid or uses something that is not supported here."""


class FailedError(Exception):
    """A template failed for these values. `origin` is the value that caused it, if known."""

    def __init__(self, message: str, origin: Origin | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.origin = origin
