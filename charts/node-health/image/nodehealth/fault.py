"""A fault of a node."""

from __future__ import annotations

from typing import NamedTuple


class Fault(NamedTuple):
    """A fault of one device: `reason` is a word in CamelCase, as in conditions, and `message` tells what was seen."""

    check: str
    device: str
    reason: str
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        """The identity of a fault, which stays the same from round to round."""
        return self.check, self.device, self.reason


class CannotCheckError(Exception):
    """A check cannot tell if its devices work; `args[0]` gives the reason and the remedy."""
