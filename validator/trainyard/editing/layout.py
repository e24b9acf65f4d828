"""Where the parts of a document stand in its text, to the character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from validator.source import Path

_GAP = re.compile(r"(?:\s|(?<!\S)#[^\n]*)*")
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s|(?<=\s)#[^\n]*)*)*")
_ALIAS = re.compile(r"\*[^\s,\[\]{}]+")
_BLANKS_AND_COMMENT = re.compile(r"[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=\r?\n|\r|$)")


class Change(NamedTuple):
    """Characters from `start` to `end` of the text become `new`."""

    start: int
    end: int
    new: str


class Spot(NamedTuple):
    """A value where it is written out.

    `entry` is where its entry starts: at the key, at the dash, or at the value itself. `floor` is behind the colon or
    the dash: nothing of the value stands before. `in_flow` is whether the entry is part of a flow collection.
    """

    node: Node
    key: Node | None
    entry: int
    floor: int
    in_flow: bool
    in_json: bool
    alias: bool = False

    @property
    def is_block(self) -> bool:
        """Whether it is a mapping or a list in block style."""
        return isinstance(self.node, MappingNode | SequenceNode) and not self.node.flow_style


class Layout:
    """The spots of a document. The entries of each mapping and list are looked for once."""

    def __init__(self, text: str, root: Node | None) -> None:
        self._text = text
        self._root = root
        self._below: dict[Path, dict[str | int, Spot]] = {}

    def find(self, path: Path) -> tuple[Spot, Path] | None:
        """The spot of the deepest part of a path that is written out, and the rest of the path."""
        if self._root is None:
            return None
        in_json = bool(getattr(self._root, "flow_style", False))
        spot = Spot(self._root, None, start(self._root), start(self._root), in_flow=False, in_json=in_json)
        for number, step in enumerate(path):
            below = self._entries(path[:number], spot).get(step if isinstance(step, int) else str(step))
            if below is None:
                return spot, path[number:]
            if below.alias:
                return None
            spot = below
        return spot, ()

    def _entries(self, path: Path, spot: Spot) -> dict[str | int, Spot]:
        if path not in self._below:
            # Of a repeated key the last one counts.
            self._below[path] = {name_of(below, n): below for n, below in enumerate(children(self._text, spot))}
        return self._below[path]


def name_of(spot: Spot, index: int) -> str | int:
    """The key of an entry, or its index in a list."""
    return str(spot.key.value) if spot.key is not None else index


def children(text: str, spot: Spot) -> Iterator[Spot]:
    """The entries of a mapping or a list, in their order."""
    flow = bool(getattr(spot.node, "flow_style", False))
    position = value_start(text, spot)
    if isinstance(spot.node, MappingNode):
        for key, value in spot.node.value:
            colon = _gap(text, end_of_node(key))
            floor = colon + 1 if text[colon : colon + 1] == ":" else end_of_node(key)
            yield Spot(value, key, start(key), floor, flow, spot.in_json, alias=start(value) < start(key))
    elif isinstance(spot.node, SequenceNode):
        for value in spot.node.value:
            if flow:
                entry = floor = _gap(text, position + 1)
            else:
                entry = _gap(text, position)
                floor = entry + 1
            below = Spot(value, None, entry, floor, flow, spot.in_json, alias=start(value) < entry)
            yield below
            position = end(text, below)
            if flow:
                position = _gap(text, position)


def start(node: Node) -> int:
    """Where a node starts, with its anchor and tag."""
    return int(node.start_mark.index)


def end_of_node(node: Node) -> int:
    """Where the parser says that a node ends."""
    return int(node.end_mark.index)


def value_start(text: str, spot: Spot) -> int:
    """Where a value starts behind its anchor and tag."""
    match = _PROPERTIES.match(text, start(spot.node))
    behind = match.end() if match is not None else start(spot.node)
    return min(behind, max(end_of_node(spot.node), start(spot.node)))


def end(text: str, spot: Spot) -> int:
    """Where a value ends: behind its last character that is neither blank nor comment."""
    node = spot.node
    if spot.alias:
        match = _ALIAS.match(text, _gap(text, spot.floor))
        return match.end() if match is not None else spot.floor
    if spot.is_block and node.value:
        *_, last = children(text, spot)
        return end(text, last)
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        return len(text[: end_of_node(node)].rstrip())
    if isinstance(node, ScalarNode) and start(node) == end_of_node(node):
        return spot.floor
    return end_of_node(node)


def line_end(text: str, position: int) -> int:
    """The end of the line, when only blanks and a comment follow; else the position itself."""
    match = _BLANKS_AND_COMMENT.match(text, position)
    return match.end() if match is not None else position


def line_start(text: str, position: int) -> int:
    """Where the line starts."""
    return text.rfind("\n", 0, position) + 1


def column(text: str, position: int) -> int:
    """The number of characters before a position in its line."""
    return position - line_start(text, position)


def line_break(text: str) -> str:
    """What ends a line in this text."""
    return "\r\n" if "\r\n" in text else "\n"


def _gap(text: str, position: int) -> int:
    match = _GAP.match(text, position)
    return match.end() if match is not None else position
