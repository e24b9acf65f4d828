"""Files as lines of text, for places that are not a node of a document: comments, and text that cannot be parsed."""

from __future__ import annotations

from trainyard.document.document import Document, Place
from trainyard.document.source import Position, Source


class Text(Document):
    """A whole file as lines. `span` creates its places, and `locate` finds them again."""

    __slots__ = ()

    def __init__(self, source: Source) -> None:
        super().__init__(source, 0, None, ())

    @property
    def node(self) -> None:
        """Always None: the text may be of any kind."""
        return

    def span(self, line: int, start: int, end: int) -> Place:
        """Returns the place of the characters from `start` to `end` in a line, all counted from 0."""
        return Place(self, (start, end), line)

    def locate(self, place: Place) -> Position:
        """Returns the position of a span; the start of the file for any other place."""
        if len(place.path) == 2 and isinstance(start := place.path[0], int) and isinstance(end := place.path[1], int):
            return Position(self.source, place.line + 1, start + 1, place.line + 1, end + 1)
        return Position(self.source, 1, 1, 1, 1)
