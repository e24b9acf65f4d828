"""Template values that know their origin in the user's values, and text that knows the origin of every part."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from gotemplate.origin import Origin


class Span(NamedTuple):
    """A part of a text, from `start` to before `end`, and its origin. An empty span marks text that was left out."""

    start: int
    end: int
    origin: Origin


class Value(NamedTuple):
    """A value in a template. Numbers from values are floats, as in Helm; an int is Go's.

    Lists and mappings hold plain data if they come from the user's values, and `Value`s if a template built them:
    `item` handles both. Composed text has `spans`; for other data `origin` is enough. `written` is the value of which
    the whole text is the JSON, so that parsing it again keeps all origins.
    """

    data: Any
    origin: Origin | None = None
    spans: tuple[Span, ...] = ()
    written: Value | None = None

    @property
    def source(self) -> Origin | None:
        """The value that all of this is a copy of, or else the origin of its last part."""
        if self.origin is not None or not self.spans:
            return self.origin
        span = innermost(span for span in self.spans if span.end > span.start)
        if span is None:
            return None
        return span.origin if span[:2] == (0, len(self.data)) else derived_origin(span.origin)

    def item(self, key: str | int) -> Value:
        """Returns the value at a key or index; null if a mapping lacks the key."""
        data, origin = self.data, self.origin
        found = data.get(key) if isinstance(data, dict) else data[key]
        if found.__class__ is Value:
            value: Value = found
            return value
        return Value(found) if origin is None else Value(found, Origin((*origin.path, key), origin.exact))

    def items(self) -> Iterator[tuple[Any, Value]]:
        """Yields keys in order with their values, or indexes with theirs."""
        keys: Any = sorted(self.data) if isinstance(self.data, dict) else range(len(self.data or ()))
        return ((key, self.item(key)) for key in keys)

    def plain(self) -> Any:
        """Returns the data without origins, at any depth."""
        if isinstance(self.data, dict):
            return {key: self.item(key).plain() for key in self.data}
        if isinstance(self.data, list):
            return [self.item(index).plain() for index in range(len(self.data))]
        return self.data

    def __bool__(self) -> bool:
        """Returns the truth value by the rules of Go templates."""
        return bool(self.data)


def innermost(spans: Iterable[Span]) -> Span | None:
    """Returns the last span that contains no other one; inner spans come before those around them."""
    found = None
    for span in spans:
        if found is None or span.start >= found.end:
            found = span
    return found


def derived_origin(origin: Origin | None) -> Origin | None:
    """Returns the origin of a value that is derived from another."""
    if origin is None or not (origin.exact or origin.on_key or origin.whole or origin.named):
        return origin
    return Origin(origin.path)


def first_origin(values: Sequence[Value]) -> Origin | None:
    """Returns the origin of a value computed from others: the first origin among them."""
    for value in values:
        # Most values are neither from the user's values nor composed.
        if value.origin is not None or value.spans:
            source = value.source
            if source is not None:
                return derived_origin(source)
    return None


def last_origin(values: Sequence[Value]) -> Origin | None:
    """Returns the origin of a value chosen or composed from others: the last origin among them."""
    return first_origin(values[::-1])


class Writer:
    """A buffer of text with spans."""

    __slots__ = ("_parts", "_spans", "_written", "length")

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._spans: list[Span] = []
        self._written: tuple[Value, int] | None = None
        self.length = 0

    def literal(self, text: str) -> None:
        """Appends text of the template itself."""
        self._parts.append(text)
        self.length += len(text)

    def write(self, text: Value) -> None:
        """Appends computed text."""
        data, origin, spans, written = text
        start = self.length
        self.length = start + len(data)
        self._parts.append(data)
        if written is not None and not start:
            self._written = (written, self.length)
        if spans:
            self._spans += [Span(start + begin, start + end, origin) for begin, end, origin in spans]
        if origin is not None:
            self._spans.append(Span(start, self.length, origin))

    def mark(self, start: int, origin: Origin | None) -> None:
        """Records that everything from `start` on is present, or absent, because of a value."""
        if origin is not None:
            self._spans.append(Span(start, self.length, origin))

    def text(self) -> Value:
        """Returns the text with its spans; inner ones come before those around them."""
        written = self._written[0] if self._written is not None and self._written[1] == self.length else None
        return Value("".join(self._parts), None, tuple(self._spans), written)


def spans_of(text: Value) -> tuple[Span, ...]:
    """Returns the spans of a text."""
    own = () if text.origin is None else (Span(0, len(text.data), text.origin),)
    return (*text.spans, *own)


def stripped(text: Value, letters: str | None = None) -> Value:
    """Returns the text without surrounding blanks, or without these characters."""
    start = len(text.data) - len(text.data.lstrip(letters))
    found = text.data.strip(letters)
    end = start + len(found)
    kept = (span for span in text.spans if span.end >= start and span.start <= end)
    spans = (Span(max(span.start, start) - start, min(span.end, end) - start, span.origin) for span in kept)
    return Value(found, text.origin, tuple(spans))


def indented(text: Value, columns: int) -> Value:
    """Returns the text with each of its lines indented."""
    pad = " " * columns
    lines = text.data.split("\n")
    ends, length = [], 0
    for line in lines:
        length += len(line) + 1
        ends.append(length)

    def moved(span: Span) -> Span:
        start = span.start + columns * (bisect_left(ends, span.start + 1) + 1)
        # The end is after the last character; an empty span ends where it starts.
        return Span(start, span.end + columns * (bisect_left(ends, max(span.end, span.start + 1)) + 1), span.origin)

    return Value("\n".join(pad + line for line in lines), text.origin, tuple(map(moved, text.spans)))
