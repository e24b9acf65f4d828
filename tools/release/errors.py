"""The reason why nothing is released."""

from __future__ import annotations


class ReleaseError(Exception):
    """A release that cannot be made, with what to do about it."""
