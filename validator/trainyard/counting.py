"""Numbers with their nouns, in messages and reports."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun in the right form, as `1 file`, `3 racks` or `1,024 nodes`."""
    ending = "" if number == 1 else "es" if noun.endswith("ch") else "s"
    return f"{number:,} {noun}{ending}"
