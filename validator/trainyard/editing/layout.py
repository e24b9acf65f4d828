"""The exact ranges of a document's parts in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from gotemplate.construct import key_name
from trainyard.document.document import Place
from trainyard.document.source import Path

_GAP = re.compile(r"(?:\s|(?<!\S)#[^\n]*)*")
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s|(?<=\s)#[^\n]*)*)*")
_ALIAS = re.compile(r"\*[^\s,\[\]{}]+")
_BLANKS_AND_COMMENT = re.compile(r"[ \t]*(?:(?<=[ \t])#[^\r\n]*)?(?=\r?\n|\r|$)")


class Rewrite(NamedTuple):
    """A new text for the scalar at this place, made of all edits of the document within it."""

    at: Place
    text: str


class Change(NamedTuple):
    """Characters from `start` to `end` of the text become `new`."""

    start: int
    end: int
    new: str


class Spot(NamedTuple):
    """A value at the place where it is written out.

    `entry` is the start of its entry: the key, the dash, or the value itself. `floor` is the position after the colon
    or the dash: nothing of the value precedes it. `in_flow` is true if the entry is part of a flow collection.
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
        """True if it is a mapping or a list in block style."""
        return isinstance(self.node, MappingNode | SequenceNode) and not self.node.flow_style


class Layout:
    """The spots of a document. The entries of each mapping and list are looked up once."""

    def __init__(self, text: str, root: Node | None) -> None:
        self._text = text
        self._root = root
        self._below: dict[Path, dict[str | int, Spot]] = {}

    def find(self, path: Path) -> tuple[Spot, Path] | None:
        """Returns the spot of the deepest part of a path that is written out, and the rest of the path."""
        if self._root is None:
            return None
        in_json = bool(getattr(self._root, "flow_style", False))
        spot = Spot(self._root, None, node_start(self._root), node_start(self._root), in_flow=False, in_json=in_json)
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
            # The last of duplicate keys wins.
            self._below[path] = {name_of(below, n): below for n, below in enumerate(children(self._text, spot))}
        return self._below[path]


def name_of(spot: Spot, index: int) -> str | int:
    """Returns the key of an entry, or its index in a list."""
    return key_name(spot.key) if isinstance(spot.key, ScalarNode) else index


def children(text: str, spot: Spot) -> Iterator[Spot]:
    """Yields the entries of a mapping or a list, in order."""
    flow = not spot.is_block
    position = value_start(text, spot)
    if isinstance(spot.node, MappingNode):
        for key, value in spot.node.value:
            colon = _gap(text, node_end(key))
            floor = colon + 1 if text[colon : colon + 1] == ":" else node_end(key)
            yield Spot(
                value, key, node_start(key), floor, flow, spot.in_json, alias=node_start(value) < node_start(key)
            )
    elif isinstance(spot.node, SequenceNode):
        for value in spot.node.value:
            if flow:
                entry = floor = _gap(text, position + 1)
            else:
                entry = _gap(text, position)
                floor = entry + 1
            below = Spot(value, None, entry, floor, flow, spot.in_json, alias=node_start(value) < entry)
            yield below
            position = _gap(text, value_end(text, below))


def node_start(node: Node) -> int:
    """Returns the start of a node, including its anchor and tag."""
    return int(node.start_mark.index)


def node_end(node: Node) -> int:
    """Returns the end of a node as the parser reports it."""
    return int(node.end_mark.index)


def value_start(text: str, spot: Spot) -> int:
    """Returns the start of a value after its anchor and tag."""
    match = _PROPERTIES.match(text, node_start(spot.node))
    behind = match.end() if match is not None else node_start(spot.node)
    return min(behind, max(node_end(spot.node), node_start(spot.node)))


def value_end(text: str, spot: Spot) -> int:
    """Returns the end of a value: after its last character that is neither blank nor comment."""
    node = spot.node
    if spot.alias:
        match = _ALIAS.match(text, _gap(text, spot.floor))
        return match.end() if match is not None else spot.floor
    if spot.is_block and node.value:
        *_, last = children(text, spot)
        return value_end(text, last)
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        return len(text[: node_end(node)].rstrip())
    if isinstance(node, ScalarNode) and node_start(node) == node_end(node):
        return spot.floor
    return node_end(node)


def line_end(text: str, position: int) -> int:
    """Returns the end of the line if only blanks and a comment follow, else the position itself."""
    match = _BLANKS_AND_COMMENT.match(text, position)
    return match.end() if match is not None else position


def line_start(text: str, position: int) -> int:
    """Returns the start of the line."""
    return text.rfind("\n", 0, position) + 1


def column(text: str, position: int) -> int:
    """Returns the number of characters before a position in its line."""
    return position - line_start(text, position)


def line_break(text: str) -> str:
    """Returns the line break of this text."""
    return "\r\n" if "\r\n" in text else "\n"


def _gap(text: str, position: int) -> int:
    match = _GAP.match(text, position)
    return match.end() if match is not None else position
