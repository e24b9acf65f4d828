"""Objects that the files cannot tell apart, because they are those of several clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

# A reference that fits more objects is not resolved. Each of many references would look at all of them.
_MOST = 64

_Thing = TypeVar("_Thing")


def few(found: Sequence[_Thing]) -> Sequence[_Thing]:
    """Returns what was found, and nothing if it is too much to belong to one cluster."""
    return found if len(found) <= _MOST else ()
