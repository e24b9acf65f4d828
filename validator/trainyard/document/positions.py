"""Translates places in a document to positions in its text. Only findings need it, so clean files cost nothing."""

from __future__ import annotations

import functools

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from gotemplate.construct import key_name
from trainyard.document.source import Path, Position, Source, lines


def locate(source: Source, root: Node, path: Path, *, on_key: bool, line: int = 0) -> Position:
    """Returns the position of a node; if it does not exist, of the key of its nearest existing ancestor.

    `line` counts the lines of a block scalar from 1; 0 means all of it.
    """
    key, value, complete = walk(root, path)
    if line and isinstance(value, ScalarNode):
        return _line_of_block(source, value, line)
    return _position(source, key if key is not None and (on_key or not complete) else value)


def walk(root: Node, path: Path) -> tuple[Node | None, Node, bool]:
    """Returns the key node and value node at the deepest existing part of a path, and true if the whole path exists."""
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
    """Returns key and value nodes by name. The last of duplicate keys wins, and own keys win over merged ones."""
    fields: dict[str, tuple[Node | None, Node]] = {}
    fields |= {key_name(key): (key, value) for key, value in node.value if isinstance(key, ScalarNode)}
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
        # A block ends at the next token; a reader looks at its first line.
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
    known = lines(source)
    if node.style == ">":
        return _line_of_folded(source, _folded(source, node), line)
    number = node.start_mark.line + line
    text = known[number] if number < len(known) else ""
    return Position(source, number + 1, len(text) - len(text.lstrip()) + 1, number + 1, len(text) + 1)


def _line_of_folded(source: Source, written: list[tuple[int, int]], line: int) -> Position:
    """Returns the lines of the file that make up one line of a folded text."""
    first, last = written[min(line, len(written)) - 1] if written else (0, 0)
    begin, end = lines(source)[first], lines(source)[last]
    return Position(source, first + 1, len(begin) - len(begin.lstrip()) + 1, last + 1, len(end) + 1)


def _folded(source: Source, node: ScalarNode) -> list[tuple[int, int]]:
    """Returns the first and last line in the file, from 0, for each line of a folded text.

    A line break becomes a space, unless a line beside it is blank or has more indentation (YAML 1.2, section 8.1.3).
    """
    every, indent = lines(source), _block_indent(source, node)
    found: list[tuple[int, int]] = []
    blanks, was_deeper = 0, False
    for number in range(node.start_mark.line + 1, len(every)):
        text = every[number]
        if not text.strip():
            blanks += 1
            continue
        if len(text) - len(text.lstrip(" ")) < indent:
            break
        is_deeper = text[indent : indent + 1].isspace()
        keeps_break = bool(found) and (is_deeper or was_deeper)
        if found and not blanks and not keeps_break:
            found[-1] = (found[-1][0], number)
        else:
            empty = blanks + keeps_break - bool(found)
            found += [(number, number)] * (empty + 1)
        blanks, was_deeper = 0, is_deeper
    return found


def locate_embedded(
    source: Source, outside: Node, host: Path, inside: Node, path: Path, *, on_key: bool, line: int
) -> Position | None:
    """Returns the position of a node of a text within a block scalar.

    `outside` is the root of the file's document and `host` the path of the scalar in it; `inside` is the root of the
    text and `path` the place there. Returns None for a quoted scalar: escapes make columns inside it unreliable.
    """
    _, outer, _ = walk(outside, host)
    if not isinstance(outer, ScalarNode) or outer.style not in ("|", ">"):
        return None
    inner = locate(source, inside, path, on_key=on_key)
    first = _line_of_block(source, outer, line)
    indent = _block_indent(source, outer)
    below = outer.start_mark.line + 1
    return Position(
        first.source,
        below + inner.line,
        indent + inner.column,
        below + inner.end_line,
        indent + inner.end_column,
    )


def _block_indent(source: Source, node: ScalarNode) -> int:
    every = lines(source)
    # `itertools.islice` would walk the lines above every block, in quadratic time for a file of many blocks.
    below = (every[number] for number in range(node.start_mark.line + 1, len(every)))
    inner = next((line for line in below if line.strip()), "")
    return len(inner) - len(inner.lstrip())


def extent(root: Node, path: Path) -> tuple[int, int]:
    """Returns the first and last line of everything at a path."""
    key, value, _ = walk(root, path)
    start, end = (key or value).start_mark.line + 1, value.end_mark.line + 1
    if isinstance(value, MappingNode | SequenceNode) and not value.flow_style:
        # A block ends at the next token, which is on a later line.
        end -= 1
    return start, max(start, end)
