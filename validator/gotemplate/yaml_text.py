"""Maps the nodes of rendered YAML text to the values that they come from."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from gotemplate.construct import key_name
from gotemplate.errors import UnsupportedError
from gotemplate.origin import Origin, Path
from gotemplate.tracked import Span, Value, derived_origin, innermost, spans_of


def block_text(root: Node, path: Path, text: Value) -> Value:
    """Returns the text of a block scalar, `key: |`, with its spans."""
    node = _node(root, path)
    if not isinstance(node, ScalarNode) or node.style != "|":
        raise UnsupportedError("a value that is not a block scalar")
    begin: int = text.data.index("\n", node.start_mark.index) + 1
    lines = text.data[begin : node.end_mark.index].splitlines(keepends=True)
    indent = min((len(line) - len(line.lstrip(" ")) for line in lines if line.strip()), default=0)
    starts = [*itertools.accumulate(map(len, lines), initial=begin)]
    inner = [*itertools.accumulate((len(line[indent:]) for line in lines), initial=0)]

    def moved(position: int) -> int:
        line = bisect_right(starts, position) - 1
        return min(inner[line] + max(0, position - starts[line] - indent), inner[-1])

    kept = (span for span in text.spans if span.end >= begin and span.start <= starts[-1])
    spans = (Span(moved(max(span.start, begin)), moved(span.end), span.origin) for span in kept)
    return Value("".join(line[indent:] for line in lines), None, tuple(spans))


def _node(root: Node, path: Path) -> Node | None:
    node: Node | None = root
    for step in path:
        children = _children(_Part((), node, 0, 0, 0)) if node is not None else ()
        node = next((child.node for child in children if child.path == (step,)), None)
    return node


class _Part(NamedTuple):
    """A node with its range in the text; `begin` is after its key."""

    path: Path
    node: Node
    begin: int
    start: int
    end: int


def node_origins(root: Node, text: Value) -> dict[Path, Origin]:
    """Returns the origin of each node that has one of its own; below a copy, nodes are copies of the values there."""
    start, end = root.start_mark.index, _end(root)
    found: dict[Path, Origin] = {}
    _collect(_Part((), root, start, start, end), spans_of(text), None, found)
    return found


def _collect(part: _Part, spans: Sequence[Span], around: Span | None, found: dict[Path, Origin]) -> None:
    """Adds the origins of a node and its descendants to `found`; `around` is the span of its parent's origin."""
    own = [span for span in spans if span.end >= part.begin and span.start <= part.end]
    if not own:
        return
    cover = min((s for s in own if s.start <= part.start and s.end >= part.end), key=_length, default=None)
    origin = _of_scalar(part, own) if isinstance(part.node, ScalarNode) else _of_list(part, own)
    if origin is None and cover is not None and cover != around:
        # A span that is larger than this node only shows that the node is derived from its value.
        origin = cover.origin if not cover.origin.exact or _is(cover, part) else derived_origin(cover.origin)
    if origin is not None:
        found[part.path] = origin
        if origin.exact:
            return
    by_start = sorted(enumerate(own), key=lambda entry: entry[1].start)
    begun: list[tuple[int, Span]] = []
    position = 0
    for child in _children(part):
        # Spans in the order of writing: those that began earlier and continue, and those that begin here.
        while position < len(by_start) and by_start[position][1].start <= child.end:
            begun.append(by_start[position])
            position += 1
        begun = [entry for entry in begun if entry[1].end >= child.begin]
        _collect(child, [span for _, span in sorted(begun)], cover or around, found)


def _of_scalar(part: _Part, spans: Sequence[Span]) -> Origin | None:
    """Returns the origin of text that is rendered from values, wholly or in part."""
    within = [span for span in spans if part.start <= span.start < span.end <= part.end]
    copied = next((span.origin for span in within if span.origin.exact and _is(span, part)), None)
    inner = innermost(within)
    return copied or (derived_origin(inner.origin) if inner is not None else None)


def _of_list(part: _Part, spans: Sequence[Span]) -> Origin | None:
    """Returns the origin of a list that is partly from values: the loop at its start, or what left an item out."""
    if not isinstance(part.node, SequenceNode):
        return None
    inner = [span for span in spans if part.begin <= span.start]
    leading = [span for span in inner if span.start <= part.start]
    named = next((span.origin for span in leading if span.origin.named), None)
    if named is not None:
        return named
    # The span of a loop follows that of its only iteration.
    begun = max((span for span in reversed(leading) if span.end > part.start), key=_length, default=None)
    if begun is not None and begun.end < part.end:
        return derived_origin(begun.origin)
    children = list(_children(part))
    missing = (s for s in inner if not _length(s) and not any(c.start <= s.start < c.end for c in children))
    return next((span.origin for span in missing), None)


def _is(span: Span, part: _Part) -> bool:
    """True if the span is exactly this node, with or without its quotes."""
    return (span.start - part.start, part.end - span.end) in ((0, 0), (1, 1))


def _length(span: Span) -> int:
    return span.end - span.start


def _children(part: _Part) -> Iterator[_Part]:
    if isinstance(part.node, MappingNode):
        for key, value in part.node.value:
            start, end = value.start_mark.index, _end(value)
            yield _Part((*part.path, key_name(key)), value, key.end_mark.index, start, end)
    elif isinstance(part.node, SequenceNode):
        for number, item in enumerate(part.node.value):
            start = item.start_mark.index
            yield _Part((*part.path, number), item, start, start, _end(item))


def _end(node: Node) -> int:
    """Returns the index after the last character of a node. The end mark of a block collection is at the next token."""
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(node, MappingNode) else last)
    return int(node.end_mark.index)
