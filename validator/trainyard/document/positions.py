"""From a place in a document to a position in the text. Needed for findings only, so that clean files cost nothing."""

from __future__ import annotations

import functools
import itertools
from typing import TYPE_CHECKING

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from validator.source import EmbeddedDocument, Position, Source
from validator.text import lines

if TYPE_CHECKING:
    from validator.source import Document, Path, Place


def locate(document: Document, place: Place) -> Position:
    """The position of a place; of one that does not exist, the key of the nearest ancestor that does."""
    if isinstance(document, EmbeddedDocument):
        return _locate_embedded(document, place)
    if document.node is None:
        return Position(document.source, 1, 1, 1, 1)
    key, value, complete = walk(document.node, place.path)
    if place.line and isinstance(value, ScalarNode):
        return _line_of_block(document.source, value, place.line)
    return _position(document.source, key if key is not None and (place.on_key or not complete) else value)


def walk(root: Node, path: Path) -> tuple[Node | None, Node, bool]:
    """The key node and value node at a path, or at its deepest existing part, and whether the whole path exists."""
    key: Node | None = None
    node = root
    for step in path:
        found = _step(node, step)
        if found is None:
            return key, node, False
        key, node = found
    return key, node, True


def _step(node: Node, step: str | int) -> tuple[Node | None, Node] | None:
    if isinstance(node, SequenceNode):
        if isinstance(step, int) and step < len(node.value):
            return None, node.value[step]
        return None
    return _fields(node).get(str(step)) if isinstance(node, MappingNode) else None


@functools.lru_cache(maxsize=64)
def _fields(node: MappingNode) -> dict[str, tuple[Node | None, Node]]:
    """Key and value nodes by name. Of a repeated key the last counts, and own keys count before merged ones."""
    fields: dict[str, tuple[Node | None, Node]] = {}
    fields |= {key.value: (key, value) for key, value in node.value if isinstance(key, ScalarNode)}
    for key, value in node.value:
        if not isinstance(key, ScalarNode) or key.value != "<<":
            continue
        for merged in value.value if isinstance(value, SequenceNode) else [value]:
            for name, field in _fields(merged).items() if isinstance(merged, MappingNode) else ():
                fields.setdefault(name, field)
    return fields


def _position(source: Source, node: Node) -> Position:
    start, end = node.start_mark, node.end_mark
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        # A block ends where the next token starts; its first line is what a reader looks at.
        first = node.value[0][0] if isinstance(node, MappingNode) else node.value[0]
        return Position(
            source,
            start.line + 1,
            start.column + 1,
            start.line + 1,
            max(first.end_mark.column if first.end_mark.line == start.line else start.column + 1, start.column + 1) + 1,
        )
    if isinstance(node, ScalarNode) and node.style in ("|", ">"):
        return Position(source, start.line + 1, start.column + 1, start.line + 1, start.column + 2)
    return Position(source, start.line + 1, start.column + 1, end.line + 1, end.column + 1)


def _line_of_block(source: Source, node: ScalarNode, line: int) -> Position:
    if node.style not in ("|", ">"):
        return _position(source, node)
    number = node.start_mark.line + line
    known = lines(source)
    text = known[number] if number < len(known) else ""
    return Position(source, number + 1, len(text) - len(text.lstrip()) + 1, number + 1, len(text) + 1)


def _locate_embedded(document: EmbeddedDocument, place: Place) -> Position:
    host = document.host.document.written(document.host) or document.host
    _, outer, _ = walk(host.document.node, host.path) if host.document.node is not None else (None, None, False)
    if document.node is None or not isinstance(outer, ScalarNode):
        return host.document.locate(host)
    if outer.style not in ("|", ">"):
        # A quoted one-liner: escapes make columns inside it unreliable.
        return host.document.locate(host)
    key, value, complete = walk(document.node, place.path)
    inner = _position(document.source, key if key is not None and (place.on_key or not complete) else value)
    first = _line_of_block(host.document.source, outer, host.line)
    indent = _block_indent(host.document.source, outer)
    below = outer.start_mark.line + 1
    return Position(
        first.source,
        below + inner.line,
        indent + inner.column,
        below + inner.end_line,
        indent + inner.end_column,
    )


def _block_indent(source: Source, node: ScalarNode) -> int:
    below = itertools.islice(lines(source), node.start_mark.line + 1, None)
    inner = next((line for line in below if line.strip()), "")
    return len(inner) - len(inner.lstrip())


def extent(place: Place) -> tuple[Source, int, int]:
    """The file and the first and last line of all that stands at a place."""
    document = place.document
    if document.node is None or isinstance(document, EmbeddedDocument):
        position = document.locate(place)
        return position.source, position.line, position.end_line
    key, value, _ = walk(document.node, place.path)
    start, end = (key or value).start_mark.line + 1, value.end_mark.line + 1
    if isinstance(value, MappingNode | SequenceNode) and not value.flow_style:
        # A block ends where the next token starts, which is on a later line.
        end -= 1
    return document.source, start, max(start, end)
