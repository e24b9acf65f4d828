"""Finds the line of a template that writes a line of the rendered text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from trainyard.document.source import Path, Position, Source, lines

# A line that holds only these characters can come from anywhere.
_SIGNS = "-:[]{}|> "


class TemplateLines:
    """The lines of a rendered text, and those of the templates that may have written them, the likeliest first."""

    def __init__(self, rendered: Source, templates: Sequence[Source]) -> None:
        self._rendered = rendered
        self._templates = tuple(templates)

    def literal(self, position: Position) -> Position | None:
        """Returns the position in a template with the same line, None if no template has it."""
        shown = lines(self._rendered)
        line = shown[position.line - 1]
        wanted = line.strip()
        if not wanted.strip(_SIGNS):
            return None
        before = sum(other.strip() == wanted for other in shown[: position.line - 1])
        for template in self._templates:
            found = [number for number, other in enumerate(lines(template)) if other.strip() == wanted]
            if found:
                return _moved(position, line, template, found[min(before, len(found) - 1)])
        return None

    def reading(self, position: Position, value: Path) -> Position | None:
        """Returns the position of the line with the same key that reads a value, None if no line does."""
        reads = re.compile(rf"\.{re.escape(str(value[-1]))}\b") if value else None
        found = (
            one for one in self._alike(position) if reads is not None and reads.search(lines(one.source)[one.line - 1])
        )
        return next(found, None)

    def nearest(self, position: Position) -> Position:
        """Returns the position of the line with the same key, or else the start of the template."""
        start = Position(self._templates[0], 1, 1, 1, 1) if self._templates else position
        return next(self._alike(position), start)

    def _alike(self, position: Position) -> Iterator[Position]:
        """Yields the positions of the lines with the same key."""
        line = lines(self._rendered)[position.line - 1]
        key, colon, _ = line.strip().partition(":")
        for template in self._templates:
            for number, other in enumerate(lines(template), 1):
                if colon and other.strip().startswith(f"{key}:"):
                    start = len(other) - len(other.lstrip()) + 1
                    yield Position(template, number, start, number, len(other.rstrip()) + 1)


def _moved(position: Position, line: str, template: Source, number: int) -> Position:
    """Returns a position of a rendered line in the same line of a template, which may have another indentation."""
    own = lines(template)[number]
    by = (len(own) - len(own.lstrip())) - (len(line) - len(line.lstrip()))
    start = position.column + by
    end = position.end_column + by if position.end_line == position.line else len(own.rstrip()) + 1
    return Position(template, number + 1, max(1, start), number + 1, max(start, end))
