"""Scalars and keys that become others, in the quotes that they have."""

from __future__ import annotations

import json
import re
from typing import Any

from yaml import ScalarNode

from validator.editing import writing
from validator.editing.layout import Change, Spot, column, end, end_of_node, line_break, start, value_start

_HEADER = re.compile(r"([|>][-+0-9]*)([^\r\n]*)\r?\n")


def value(text: str, spot: Spot, new: Any) -> Change | None:
    """Another value for a scalar."""
    if not isinstance(spot.node, ScalarNode):
        return None
    first, behind = value_start(text, spot), end(text, spot)
    if spot.node.style in ("|", ">"):
        header = _HEADER.match(text, first)
        if header is None:
            return None
        if isinstance(new, str) and "\n" in new.rstrip("\n"):
            return Change(first, behind, _literal(text, spot, header, new))
        return Change(first, behind, writing.inline(new) + header[2].rstrip())
    written = _quoted(spot.node.style, new, spot)
    if behind == spot.floor:
        return Change(behind, behind, " " + written)
    return Change(first, behind, written)


def lines(text: str, spot: Spot, new: str) -> Change | None:
    """Other text in a scalar, in the style that it has; line ends behind it stay."""
    first, behind = value_start(text, spot), end(text, spot)
    header = _HEADER.match(text, first)
    if not isinstance(spot.node, ScalarNode) or spot.node.style != "|" or header is None:
        return value(text, spot, new)
    return Change(header.end(), behind, _indented(text, spot, header.end(), new.rstrip("\n")))


def key(text: str, spot: Spot, new: str) -> Change | None:
    """Another name for a key."""
    if not isinstance(spot.key, ScalarNode) or text[start(spot.key)] in "&!":
        return None
    return Change(start(spot.key), end_of_node(spot.key), _quoted(spot.key.style, new, spot))


def part(text: str, spot: Spot, line: int, old: str, new: str) -> Change | None:
    """The first `old` becomes `new`, in a line of a block scalar or, for line 0, in all of a scalar."""
    first, behind = value_start(text, spot), end(text, spot)
    if line and isinstance(spot.node, ScalarNode) and spot.node.style in ("|", ">"):
        for _ in range(line):
            first = text.find("\n", first) + 1
        behind = min(behind, text.find("\n", first) % (len(text) + 1))
    found = text.find(old, first, behind)
    return Change(found, found + len(old), new) if found >= 0 else None


def _quoted(style: str | None, new: Any, spot: Spot) -> str:
    if isinstance(new, str) and style == '"':
        return json.dumps(new, ensure_ascii=False)
    if isinstance(new, str) and style == "'" and new.isprintable():
        return "'" + new.replace("'", "''") + "'"
    return writing.inline(new, as_json=spot.in_json)


def _literal(text: str, spot: Spot, header: re.Match[str], new: str) -> str:
    """A literal block with as many line ends behind it as the new text has."""
    chomping = "|" if new.endswith("\n") else "|-"
    body = _indented(text, spot, header.end(), new.rstrip("\n"))
    behind = line_break(text) if new.endswith("\n") and end(text, spot) == len(text) else ""
    return f"{chomping}{header[2]}{line_break(text)}{body}{behind}"


def _indented(text: str, spot: Spot, body: int, new: str) -> str:
    """Lines with the indentation of those that they replace."""
    old = text[body : end(text, spot)].split("\n")
    margin = next((line[: len(line) - len(line.lstrip(" "))] for line in old if line.strip()), None)
    if margin is None:
        margin = " " * (column(text, spot.entry) + 2)
    return line_break(text).join(margin + line if line else "" for line in new.split("\n"))
