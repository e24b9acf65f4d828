"""Removes fields, items and comments."""

from __future__ import annotations

from collections.abc import Iterator

from yaml import MappingNode

from trainyard.document.document import Place
from trainyard.document.source import Path, offset
from trainyard.editing.layout import (
    Change,
    Spot,
    children,
    line_end,
    line_start,
    name_of,
    node_end,
    value_end,
    value_start,
)


def remove_entries(text: str, found: tuple[Spot, Path] | None, steps: set[str | int]) -> Iterator[Change | None]:
    """Yields changes that remove some entries of a mapping or a list."""
    if found is None or found[1]:
        yield None
        return
    parent = found[0]
    known = list(children(text, parent))
    going = [name_of(spot, index) in steps for index, spot in enumerate(known)]
    if sum(going) < len(steps):
        yield None
    elif all(going):
        yield from _emptied(text, parent, known)
    elif parent.is_block:
        yield from _lines(text, known, going)
    else:
        yield from _parts(text, known, going)


def remove_comment(text: str, place: Place) -> Change | None:
    """Removes a comment, and its line if nothing else is on it."""
    if len(place.path) != 2:
        return None
    start, behind = (offset(text, place.line, int(column)) for column in place.path)
    first = line_start(text, start)
    if text[first:start].strip():
        return Change(len(text[:start].rstrip(" \t")), behind, "")
    return Change(first, _next_line(text, behind), "")


def _next_line(text: str, position: int) -> int:
    newline = text.find("\n", position)
    return newline + 1 if newline >= 0 else len(text)


def _emptied(text: str, parent: Spot, known: list[Spot]) -> Iterator[Change | None]:
    empty = "{}" if isinstance(parent.node, MappingNode) else "[]"
    if not parent.is_block:
        start, behind = value_start(text, parent) + 1, node_end(parent.node) - 1
        commented = any("#" in gap for gap in _gaps(text, known, start, behind))
        yield None if commented else Change(start, behind, "")
        return
    start, behind = known[0].entry, line_end(text, value_end(text, parent))
    if parent.floor == start:
        yield Change(start, behind, empty)
    elif not text[parent.floor : start].strip():
        yield Change(parent.floor, behind, f" {empty}")
    else:
        yield Change(parent.floor, parent.floor, f" {empty}")
        yield _whole_lines(text, start, behind)


def _lines(text: str, known: list[Spot], going: list[bool]) -> Iterator[Change]:
    """Removes whole lines; if the first entry shares its line with a dash, the next one moves up to the dash."""
    first = 0
    if going[0] and text[line_start(text, known[0].entry) : known[0].entry].strip():
        first = going.index(False)
        behind = line_end(text, value_end(text, known[first - 1]))
        between = text[behind : known[first].entry]
        if between.strip():
            yield Change(len(text[: known[0].entry].rstrip(" ")), behind, "")
        else:
            yield Change(known[0].entry, known[first].entry, "")
    for spot, goes in zip(known[first:], going[first:], strict=True):
        if goes:
            yield _whole_lines(text, spot.entry, line_end(text, value_end(text, spot)))


def _whole_lines(text: str, first: int, behind: int) -> Change:
    """Removes the lines from that of one position to the one that ends at another."""
    return Change(line_start(text, first), _next_line(text, behind), "")


def _parts(text: str, known: list[Spot], going: list[bool]) -> Iterator[Change | None]:
    """Removes parts of a flow collection, each with a comma."""
    last_kept = len(going) - 1 - going[::-1].index(False)
    for index, spot in enumerate(known):
        if not going[index]:
            continue
        if index < last_kept:
            start, behind = spot.entry, known[index + 1].entry
            gap = text[value_end(text, spot) : behind]
        else:
            start, behind = value_end(text, known[index - 1]), value_end(text, spot)
            gap = text[start : spot.entry]
        yield Change(start, behind, "") if "#" not in gap else None


def _gaps(text: str, known: list[Spot], start: int, behind: int) -> list[str]:
    """Returns the text between the entries: commas, blanks and comments."""
    starts = [start, *(value_end(text, spot) for spot in known)]
    return [text[a:b] for a, b in zip(starts, [*(spot.entry for spot in known), behind], strict=True)]
