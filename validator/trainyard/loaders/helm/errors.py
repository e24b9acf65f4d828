"""Errors of charts that cannot be rendered."""

from __future__ import annotations


class RenderingError(Exception):
    """A chart that cannot be rendered; `args[0]` gives the reason and the remedy."""
