"""Inserts fields and items."""

from __future__ import annotations

from typing import Any

from yaml import MappingNode, ScalarNode, SequenceNode

from trainyard.document.source import Path
from trainyard.editing import writing
from trainyard.editing.layout import (
    Change,
    Spot,
    children,
    column,
    line_break,
    line_end,
    line_start,
    node_end,
    value_end,
    value_start,
)


def insert_field(text: str, spot: Spot, rest: Path, key: str, value: Any) -> Change | None:
    """Inserts a field into the mapping at the spot; mappings for the rest of the path are created."""
    for step in reversed(rest):
        if isinstance(step, int):
            return None
        key, value = step, {key: value}
    if _is_null(spot):
        return _below(text, spot, {key: value})
    if not isinstance(spot.node, MappingNode):
        return None
    if spot.node.flow_style:
        inner = writing.flow_text({key: value}, as_json=spot.in_json)[1:-1]
        return _into_flow(text, spot, inner)
    indent = column(text, next(children(text, spot)).entry)
    return _insert_after(text, spot, writing.field_lines(key, value), indent)


def insert_item(text: str, spot: Spot, rest: Path, value: Any) -> Change | None:
    """Appends an item to the list at the spot, or to a new list."""
    if rest:
        return insert_field(text, spot, rest[:-1], str(rest[-1]), [value])
    if _is_null(spot):
        return _below(text, spot, [value])
    if not isinstance(spot.node, SequenceNode):
        return None
    if spot.node.flow_style:
        return _into_flow(text, spot, writing.flow_text(value, as_json=spot.in_json))
    indent = column(text, next(children(text, spot)).entry)
    return _insert_after(text, spot, writing.item_lines(value), indent)


def _is_null(spot: Spot) -> bool:
    return isinstance(spot.node, ScalarNode) and not spot.node.style and spot.node.value in ("", "~", "null")


def _insert_after(text: str, spot: Spot, lines: list[str], indent: int) -> Change:
    """Inserts lines after the last line of a block."""
    return _lines(text, line_end(text, value_end(text, spot)), lines, indent)


def _lines(text: str, at: int, lines: list[str], indent: int) -> Change:
    """Inserts lines after the line that ends here. A script at the end of the text gets a line end of its own."""
    newline, margin = line_break(text), " " * indent
    behind = newline if at == len(text) and writing.is_script(lines) else ""
    return Change(at, at, "".join(newline + (margin + line if line else "") for line in lines) + behind)


def _below(text: str, spot: Spot, value: Any) -> Change:
    """Inserts a first field or item into an empty value."""
    at = value_end(text, spot)
    written = at != spot.floor
    if written or spot.in_flow or spot.key is None:
        new = writing.flow_text(value, as_json=spot.in_json)
        return Change(value_start(text, spot), at, new) if written else Change(at, at, " " + new)
    return _lines(text, line_end(text, at), writing.block_lines(value), column(text, spot.entry) + 2)


def _into_flow(text: str, spot: Spot, new: str) -> Change:
    """Inserts after the last entry of a flow collection, on a new line if that entry is on its own line."""
    entries = list(children(text, spot))
    if not entries:
        at, behind = value_start(text, spot) + 1, node_end(spot.node) - 1
        return Change(at, at if text[at:behind].strip() else behind, new)
    last = entries[-1]
    at = value_end(text, last)
    margin = text[line_start(text, last.entry) : last.entry]
    return Change(at, at, "," + (" " if margin.strip() else line_break(text) + margin) + new)
