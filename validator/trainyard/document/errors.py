"""Mistakes of the user. They end in a message and never in a traceback."""

from __future__ import annotations


class MistakeError(Exception):
    """`args[0]` gives the place, the mistake, and the remedy."""
