"""Which value is behind each node of YAML text that templates have written."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from yaml import MappingNode, Node, ScalarNode, SequenceNode

from validator.roads.origins import Origin
from validator.roads.templates.tracked import Span, Value, derived, innermost, spanned
from validator.source import Path


class _Part(NamedTuple):
    """A node with its range in the text; `begin` is behind its key."""

    path: Path
    node: Node
    begin: int
    start: int
    end: int


def origins(root: Node, text: Value) -> dict[Path, Origin]:
    """The value behind each node that has one of its own; the nodes below a copy are copies of what is below it."""
    start, end = root.start_mark.index, _end(root)
    found: dict[Path, Origin] = {}
    _collect(_Part((), root, start, start, end), spanned(text), None, found)
    return found


def _collect(part: _Part, spans: Sequence[Span], around: Span | None, found: dict[Path, Origin]) -> None:
    """Put the origin of a node and those below it into `found`; `around` is the part that its parent is known by."""
    own = [span for span in spans if span.end >= part.begin and span.start <= part.end]
    if not own:
        return
    cover = min((s for s in own if s.start <= part.start and s.end >= part.end), key=_length, default=None)
    origin = _of_scalar(part, own) if isinstance(part.node, ScalarNode) else _of_list(part, own)
    if origin is None and cover is not None and cover != around:
        # What is a copy of more than this node alone is only known to be made from it.
        origin = cover.origin if not cover.origin.exact or _is(cover, part) else derived(cover.origin)
    if origin is not None:
        found[part.path] = origin
        if origin.exact:
            return
    by_start = sorted(enumerate(own), key=lambda entry: entry[1].start)
    begun: list[tuple[int, Span]] = []
    position = 0
    for child in _children(part):
        # Spans in the order in which they were written: those that began earlier and go on, and those that begin here.
        while position < len(by_start) and by_start[position][1].start <= child.end:
            begun.append(by_start[position])
            position += 1
        begun = [entry for entry in begun if entry[1].end >= child.begin]
        _collect(child, [span for _, span in sorted(begun)], cover or around, found)


def _of_scalar(part: _Part, spans: Sequence[Span]) -> Origin | None:
    """The origin of text that is made from values, wholly or in part."""
    within = [span for span in spans if part.start <= span.start < span.end <= part.end]
    copied = next((span.origin for span in within if span.origin.exact and _is(span, part)), None)
    inner = innermost(within)
    return copied or (derived(inner.origin) if inner is not None else None)


def _of_list(part: _Part, spans: Sequence[Span]) -> Origin | None:
    """The origin of a list of which only parts come from values: the loop that it begins with, or what it lacks."""
    if not isinstance(part.node, SequenceNode):
        return None
    inner = [span for span in spans if part.begin <= span.start]
    leading = [span for span in inner if span.start <= part.start]
    named = next((span.origin for span in leading if span.origin.named), None)
    if named is not None:
        return named
    # Of a loop and its only turn the loop comes last.
    begun = max((span for span in reversed(leading) if span.end > part.start), key=_length, default=None)
    if begun is not None and begun.end < part.end:
        return derived(begun.origin)
    children = list(_children(part))
    missing = (s for s in inner if not _length(s) and not any(c.start <= s.start < c.end for c in children))
    return next((span.origin for span in missing), None)


def _is(span: Span, part: _Part) -> bool:
    """Whether a part of the text is this node, with its quotes or without."""
    return (span.start - part.start, part.end - span.end) in ((0, 0), (1, 1))


def _length(span: Span) -> int:
    return span.end - span.start


def _children(part: _Part) -> Iterator[_Part]:
    if isinstance(part.node, MappingNode):
        for key, value in part.node.value:
            start, end = value.start_mark.index, _end(value)
            yield _Part((*part.path, key.value), value, key.end_mark.index, start, end)
    elif isinstance(part.node, SequenceNode):
        for number, item in enumerate(part.node.value):
            start = item.start_mark.index
            yield _Part((*part.path, number), item, start, start, _end(item))


def _end(node: Node) -> int:
    """Index behind the last character of a node: a block collection's own mark is where the next token starts."""
    if isinstance(node, MappingNode | SequenceNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(node, MappingNode) else last)
    return int(node.end_mark.index)
