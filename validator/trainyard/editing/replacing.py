"""Replaces scalars and keys, and keeps their quotes."""

from __future__ import annotations

import json
import re
from typing import Any

from yaml import ScalarNode

from trainyard.editing import writing
from trainyard.editing.layout import Change, Spot, column, line_break, node_end, node_start, value_end, value_start

_HEADER = re.compile(r"([|>][-+0-9]*)([^\r\n]*)\r?\n")


def replace_value(text: str, spot: Spot, new: Any) -> Change | None:
    """Replaces the value of a scalar."""
    if not isinstance(spot.node, ScalarNode):
        return None
    first, behind = value_start(text, spot), value_end(text, spot)
    if spot.node.style in ("|", ">"):
        header = _HEADER.match(text, first)
        if header is None:
            return None
        if isinstance(new, str) and "\n" in new.rstrip("\n"):
            return Change(first, behind, _literal(text, spot, header, new))
        return Change(first, behind, writing.flow_text(new) + header[2].rstrip())
    written = _quoted(spot.node.style, new, spot)
    if behind == spot.floor:
        return Change(behind, behind, " " + written)
    return Change(first, behind, written)


def replace_lines(text: str, spot: Spot, new: str) -> Change | None:
    """Replaces the text in a scalar and keeps its style and the line ends after it."""
    first, behind = value_start(text, spot), value_end(text, spot)
    header = _HEADER.match(text, first)
    if header is None or text[first] != "|":
        return replace_value(text, spot, new)
    return Change(header.end(), behind, _indented(text, spot, header.end(), new.rstrip("\n")))


def rename_key(text: str, spot: Spot, new: str) -> Change | None:
    """Renames a key."""
    if not isinstance(spot.key, ScalarNode) or text[node_start(spot.key)] in "&!":
        return None
    return Change(node_start(spot.key), node_end(spot.key), _quoted(spot.key.style, new, spot))


def replace_part(text: str, spot: Spot, line: int, old: str, new: str) -> Change | None:
    """Replaces the first `old` by `new`, in a line of a block scalar or, for line 0, in all of a scalar."""
    first, behind = value_start(text, spot), value_end(text, spot)
    if line and isinstance(spot.node, ScalarNode) and spot.node.style in ("|", ">"):
        for _ in range(line):
            first = text.find("\n", first) + 1
        end = text.find("\n", first, behind)
        behind = end if end >= 0 else behind
    found = text.find(old, first, behind)
    return Change(found, found + len(old), new) if found >= 0 else None


def _quoted(style: str | None, new: Any, spot: Spot) -> str:
    if isinstance(new, str) and style == '"':
        return json.dumps(new, ensure_ascii=False)
    if isinstance(new, str) and style == "'" and new.isprintable():
        return "'" + new.replace("'", "''") + "'"
    return writing.flow_text(new, as_json=spot.in_json)


def _literal(text: str, spot: Spot, header: re.Match[str], new: str) -> str:
    """Returns a literal block with as many line ends after it as the new text has."""
    chomping = "|" if new.endswith("\n") else "|-"
    body = _indented(text, spot, header.end(), new.rstrip("\n"))
    behind = line_break(text) if new.endswith("\n") and value_end(text, spot) == len(text) else ""
    return f"{chomping}{header[2]}{line_break(text)}{body}{behind}"


def _indented(text: str, spot: Spot, body: int, new: str) -> str:
    """Returns lines with the indentation of those that they replace."""
    old = text[body : value_end(text, spot)].split("\n")
    margin = next((line[: len(line) - len(line.lstrip(" "))] for line in old if line.strip()), None)
    if margin is None:
        margin = " " * (column(text, spot.entry) + 2)
    return line_break(text).join(margin + line if line else "" for line in new.split("\n"))
