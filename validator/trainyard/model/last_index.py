"""An index of what was asked about last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")
_Index = TypeVar("_Index")


class LastIndex(Generic[_T, _Index]):
    """Makes an index of a collection, and keeps it until two others are asked about.

    Rules ask for many names of one collection; a search for each of them would take quadratic time. Most runs have two
    roles, about which a rule asks in turn.
    """

    def __init__(self, make: Callable[[_T], _Index]) -> None:
        self._make = make
        self._last: tuple[_T, _Index] | None = None
        self._earlier: tuple[_T, _Index] | None = None

    def of(self, collection: _T) -> _Index:
        """Returns the index of this very collection."""
        found = self._last
        if found is None or found[0] is not collection:
            found, self._earlier = self._earlier, found
            if found is None or found[0] is not collection:
                found = (collection, self._make(collection))
            self._last = found
        return found[1]
