"""Values of templates that know which of the user's values they come from, and text of which every part does."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from validator.roads.origins import Origin


class Span(NamedTuple):
    """A part of a text, from `start` to before `end`, and the value behind it. It may be empty: what was left out."""

    start: int
    end: int
    origin: Origin


class Value(NamedTuple):
    """A value in a template. Numbers from values are floats, as Helm holds them; an int is Go's.

    Lists and mappings hold plain data where they are a part of the user's values, and `Value`s where a template made
    them: `item` gives either. Text that was put together has `spans`; of other data `origin` says it all.
    """

    data: Any
    origin: Origin | None = None
    spans: tuple[Span, ...] = ()

    @property
    def source(self) -> Origin | None:
        """The one value that all of this is a copy of, or else the last of those that it is made from."""
        if self.origin is not None or not self.spans:
            return self.origin
        span = innermost(span for span in self.spans if span.end > span.start)
        if span is None:
            return None
        return span.origin if span[:2] == (0, len(self.data)) else derived(span.origin)

    def item(self, key: str | int) -> Value:
        """What a mapping or a list has there; null where a mapping has nothing."""
        found = self.data.get(key) if isinstance(self.data, dict) else self.data[key]
        if isinstance(found, Value):
            return found
        origin = self.origin
        return Value(found, origin and Origin((*origin.path, key), origin.exact))

    def items(self) -> Iterator[tuple[Any, Value]]:
        """Keys in order with their values, or indexes with theirs."""
        keys: Any = sorted(self.data) if isinstance(self.data, dict) else range(len(self.data or ()))
        return ((key, self.item(key)) for key in keys)

    def plain(self) -> Any:
        """The data without origins, at any depth."""
        if isinstance(self.data, dict):
            return {key: self.item(key).plain() for key in self.data}
        if isinstance(self.data, list):
            return [self.item(index).plain() for index in range(len(self.data))]
        return self.data

    def __bool__(self) -> bool:
        """Go's truth of templates."""
        return bool(self.data)


def innermost(spans: Iterable[Span]) -> Span | None:
    """The last part of a text that has no other one in it; inner parts come before those around them."""
    found = None
    for span in spans:
        if found is None or span.start >= found.end:
            found = span
    return found


def derived(origin: Origin | None) -> Origin | None:
    """The origin of what is made from a value."""
    return origin and Origin(origin.path)


def first(values: Sequence[Value]) -> Origin | None:
    """The origin of what is computed from values: that of the first of them that has one."""
    return next((derived(value.source) for value in values if value.source is not None), None)


def last(values: Sequence[Value]) -> Origin | None:
    """The origin of what is chosen or put together from values: that of the last of them that has one."""
    return first(values[::-1])


class Writer:
    """Text under construction."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._spans: list[Span] = []
        self.length = 0

    def literal(self, text: str) -> None:
        """Text of the template itself."""
        self._parts.append(text)
        self.length += len(text)

    def write(self, text: Value) -> None:
        """Text that was computed."""
        start, self.length = self.length, self.length + len(text.data)
        self._parts.append(text.data)
        self._spans += (Span(start + span.start, start + span.end, span.origin) for span in text.spans)
        if text.origin is not None:
            self._spans.append(Span(start, self.length, text.origin))

    def mark(self, start: int, origin: Origin | None) -> None:
        """Say that all from `start` on is there, or not there, because of a value."""
        if origin is not None:
            self._spans.append(Span(start, self.length, origin))

    def text(self) -> Value:
        """The text with its parts; inner ones come before those around them."""
        return Value("".join(self._parts), None, tuple(self._spans))


def spanned(text: Value) -> tuple[Span, ...]:
    """The parts of a text."""
    own = () if text.origin is None else (Span(0, len(text.data), text.origin),)
    return (*text.spans, *own)


def stripped(text: Value, letters: str | None = None) -> Value:
    """Text without blanks, or these letters, around it."""
    start = len(text.data) - len(text.data.lstrip(letters))
    found = text.data.strip(letters)
    end = start + len(found)
    kept = (span for span in text.spans if span.end >= start and span.start <= end)
    spans = (Span(max(span.start, start) - start, min(span.end, end) - start, span.origin) for span in kept)
    return Value(found, text.origin, tuple(spans))


def indented(text: Value, columns: int) -> Value:
    """Text with each of its lines moved to the right."""
    pad = " " * columns
    lines = text.data.split("\n")
    ends, length = [], 0
    for line in lines:
        length += len(line) + 1
        ends.append(length)

    def moved(span: Span) -> Span:
        start = span.start + columns * (bisect_left(ends, span.start + 1) + 1)
        # The end is behind the last character: of an empty part, where it starts.
        return Span(start, span.end + columns * (bisect_left(ends, max(span.end, span.start + 1)) + 1), span.origin)

    return Value("\n".join(pad + line for line in lines), text.origin, tuple(map(moved, text.spans)))
