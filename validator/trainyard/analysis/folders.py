"""The distance between objects in the files: an object refers to the nearest one of a name.

A folder may hold several environments, with the same names in each. What stands in the same file belongs together most,
then what stands in the same folder, and then the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from trainyard.document.document import Place

SAME_FILE, SAME_FOLDER, NESTED, APART = range(4)

_Thing = TypeVar("_Thing")


def distance(one: Place, other: Place) -> int:
    """Returns how far two objects are apart; `NESTED` if the folder of one contains the other."""
    if one.document.source is other.document.source:
        return SAME_FILE
    first, second = folder_of(one), folder_of(other)
    if first == second:
        return SAME_FOLDER
    nested = first.startswith(f"{second}/") or second.startswith(f"{first}/") or not first or not second
    return NESTED if nested else APART


def folder_of(place: Place) -> str:
    """Returns the folder of an object's file; empty for the current one."""
    return place.document.source.name.replace("\\", "/").rpartition("/")[0].removeprefix("./")


def nearest(things: Iterable[tuple[_Thing, Place]], to: Place) -> list[_Thing]:
    """Returns the things with the shortest distance; several if they are equally far away."""
    found = [(distance(at, to), thing) for thing, at in things]
    shortest = min((far for far, _ in found), default=APART)
    return [thing for far, thing in found if far == shortest]
