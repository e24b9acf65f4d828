"""Files as lines of text: for what is no node of a document, such as comments and text that cannot be parsed."""

from __future__ import annotations

import functools
import re

from validator.source import Document, Place, Position, Source

# What ends a line for a YAML parser, so that its line numbers and these are the same.
_BREAK = re.compile("\r\n|[\n\r\x85\u2028\u2029]")


@functools.lru_cache(maxsize=4)
def lines(source: Source) -> tuple[str, ...]:
    """The lines of a file without their ends. Most findings are in few files, so the last ones are kept."""
    return tuple(_BREAK.split(source.text))


class Text(Document):
    """A whole file as lines. Its places come from `span` and are found again by `locate`."""

    __slots__ = ()

    def __init__(self, source: Source) -> None:
        super().__init__(source, 0, None, ())

    @property
    def node(self) -> None:
        """There is none: the text may be of any kind."""
        return

    def span(self, line: int, start: int, end: int) -> Place:
        """The place of the characters from `start` to `end` in a line, all counted from 0."""
        return Place(self, (start, end), line)

    def locate(self, place: Place) -> Position:
        """Where a span is; the start of the file for any other place."""
        if len(place.path) == 2 and isinstance(start := place.path[0], int) and isinstance(end := place.path[1], int):
            return Position(self.source, place.line + 1, start + 1, place.line + 1, end + 1)
        return Position(self.source, 1, 1, 1, 1)


def offset(text: str, line: int, column: int) -> int:
    """How many characters of a text are before a place, counted from 0."""
    ends = [0, *(match.end() for match in _BREAK.finditer(text))]
    return ends[line] + column
