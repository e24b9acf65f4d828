"""Errors that end a conversion."""

from __future__ import annotations

from trainyard.document.errors import MistakeError


class ConvertError(MistakeError):
    """The input is no job that the chart can start."""


class NoJobError(ConvertError):
    """The input holds no job."""
