"""Suggestions for misspelt words."""

from __future__ import annotations

from collections.abc import Iterable


def closest_match(word: str, known: Iterable[str], alike: float) -> str | None:
    """Returns the most similar known word; None if none reaches `alike`, a ratio from 0 to 1 as in difflib."""
    # Most files have no misspelt word: difflib is imported when there is one.
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), 1, alike)), None)
