"""An index of what was asked about last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

_T = TypeVar("_T")
_Index = TypeVar("_Index")


class LastIndex(Generic[_T, _Index]):
    """Makes an index of a collection, and keeps it until another collection is asked about.

    Rules ask for many names of one collection; a search for each of them would take quadratic time.
    """

    def __init__(self, make: Callable[[_T], _Index]) -> None:
        self._make = make
        self._last: tuple[_T, _Index] | None = None

    def of(self, collection: _T) -> _Index:
        """Returns the index of this very collection."""
        if self._last is None or self._last[0] is not collection:
            self._last = (collection, self._make(collection))
        return self._last[1]
