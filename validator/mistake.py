"""Mistakes of the user, which end in a message and never in a traceback."""

from __future__ import annotations


class MistakeError(Exception):
    """`args[0]` says where, what is wrong, and what to write instead."""
