"""New fields and items."""

from __future__ import annotations

from typing import Any

from yaml import MappingNode, ScalarNode, SequenceNode

from validator.editing import writing
from validator.editing.layout import (
    Change,
    Spot,
    children,
    column,
    end,
    end_of_node,
    line_break,
    line_end,
    line_start,
    value_start,
)
from validator.source import Path


def field(text: str, spot: Spot, rest: Path, key: str, value: Any) -> Change | None:
    """A field of the mapping at the spot; mappings of the rest of the path come with it."""
    for step in reversed(rest):
        if isinstance(step, int):
            return None
        key, value = step, {key: value}
    if _is_null(spot):
        return _below(text, spot, {key: value})
    if not isinstance(spot.node, MappingNode):
        return None
    if spot.node.flow_style:
        inner = writing.inline({key: value}, as_json=spot.in_json)[1:-1]
        return _into_flow(text, spot, inner)
    indent = column(text, next(children(text, spot)).entry)
    return _behind(text, spot, writing.field(key, value), indent)


def item(text: str, spot: Spot, rest: Path, value: Any) -> Change | None:
    """An item of the list at the spot, or of a list that is not there yet."""
    if rest:
        return field(text, spot, rest[:-1], str(rest[-1]), [value])
    if _is_null(spot):
        return _below(text, spot, [value])
    if not isinstance(spot.node, SequenceNode):
        return None
    if spot.node.flow_style:
        return _into_flow(text, spot, writing.inline(value, as_json=spot.in_json))
    indent = column(text, next(children(text, spot)).entry)
    return _behind(text, spot, writing.item(value), indent)


def _is_null(spot: Spot) -> bool:
    return isinstance(spot.node, ScalarNode) and not spot.node.style and spot.node.value in ("", "~", "null")


def _behind(text: str, spot: Spot, lines: list[str], indent: int) -> Change:
    """Lines behind the last line of a block."""
    return _lines(text, line_end(text, end(text, spot)), lines, indent)


def _lines(text: str, at: int, lines: list[str], indent: int) -> Change:
    """Lines behind the line that ends here. A script that would be the end of the text gets an end of its own."""
    newline, margin = line_break(text), " " * indent
    behind = newline if at == len(text) and writing.is_script(lines) else ""
    return Change(at, at, "".join(newline + (margin + line if line else "") for line in lines) + behind)


def _below(text: str, spot: Spot, value: Any) -> Change:
    """A first field or item where there is nothing yet."""
    at = end(text, spot)
    written = at != spot.floor
    if written or spot.in_flow or spot.key is None:
        new = writing.inline(value, as_json=spot.in_json)
        return Change(value_start(text, spot), at, new) if written else Change(at, at, " " + new)
    return _lines(text, line_end(text, at), writing.block(value), column(text, spot.entry) + 2)


def _into_flow(text: str, spot: Spot, new: str) -> Change:
    """Behind the last entry of a flow collection, on a line of its own if that entry has one."""
    entries = list(children(text, spot))
    if not entries:
        at, behind = value_start(text, spot) + 1, end_of_node(spot.node) - 1
        return Change(at, at if text[at:behind].strip() else behind, new)
    last = entries[-1]
    at = end(text, last)
    margin = text[line_start(text, last.entry) : last.entry]
    own_line = not margin.strip() and line_start(text, last.entry) > value_start(text, spot)
    return Change(at, at, "," + (line_break(text) + margin if own_line else " ") + new)
