"""What a misspelt word may mean."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str], alike: float) -> str | None:
    """The known word that is most like this one; None when none reaches `alike`, from 0 to 1 as in difflib's ratio."""
    # Most files have no misspelt word: difflib is imported when there is one.
    from difflib import get_close_matches

    return next(iter(get_close_matches(word, list(known), 1, alike)), None)
