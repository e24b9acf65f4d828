"""Suggestions for misspelt words, and lists of what could have been written."""

from __future__ import annotations

import functools
from bisect import bisect
from collections.abc import Iterable, Sequence

# The words of a file can be thousands, and each comparison takes tens of microseconds.
_FEW = 64
_NEIGHBOURS = 4
_MOST_LISTED = 12


def closest_match(word: str, known: Iterable[str], alike: float) -> str | None:
    """Returns the most similar known word; None if none reaches `alike`, a ratio from 0 to 1 as in difflib.

    Of many words only those are compared that follow or precede the word in the alphabet, read forwards or backwards: a
    misspelt word has either its first or its last letters right.
    """
    words = frozenset(known)
    return _closest(word, words, alike) if words else None


# Copies of an object have the same misspelt words.
@functools.lru_cache(maxsize=1024)
def _closest(word: str, words: frozenset[str], alike: float) -> str | None:
    # Most files have no misspelt word: difflib is imported when there is one.
    from difflib import get_close_matches

    compared: Iterable[str] = words
    if len(words) > _FEW:
        forwards, backwards = _sorted(words)
        ends = (one[::-1] for one in _neighbours(word[::-1], backwards))
        compared = {*_neighbours(word, forwards), *ends}
    return next(iter(get_close_matches(word, sorted(compared), 1, alike)), None)


def unlike_ends(one: str, other: str) -> tuple[str, str]:
    """Returns what is left of two words from the first letter in which they differ."""
    pairs = enumerate(zip(one, other, strict=False))
    start = next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))
    return one[start:], other[start:]


def format_list(words: Iterable[str]) -> str:
    """Returns words with commas, the first dozen of them."""
    found = list(words)
    rest = len(found) - _MOST_LISTED
    return ", ".join(found[:_MOST_LISTED]) + (f" and {rest:,} more" if rest > 0 else "")


@functools.lru_cache(maxsize=8)
def _sorted(words: frozenset[str]) -> tuple[Sequence[str], Sequence[str]]:
    return sorted(words), sorted(word[::-1] for word in words)


def _neighbours(word: str, words: Sequence[str]) -> Sequence[str]:
    at = bisect(words, word)
    return words[max(0, at - _NEIGHBOURS) : at + _NEIGHBOURS]
