"""The error of a run that a cluster does not have."""

from __future__ import annotations


class NoRunError(Exception):
    """There is no such run; `args[0]` gives the reason and the next step."""
