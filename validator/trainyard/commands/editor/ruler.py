"""Positions in a text: the linter counts lines of YAML and characters, an editor its own lines and code units."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise

from lsprotocol import types

from trainyard.document.source import Position, has_plain_breaks, offset

# Line breaks of the protocol. YAML has further ones.
_BREAK = re.compile("\r\n|\n|\r")
_WIDTHS = {types.PositionEncodingKind.Utf8: ("utf-8", 1), types.PositionEncodingKind.Utf32: ("utf-32-le", 4)}


class Ruler:
    """The lines of one text, in the units that the editor counts: UTF-16 unless it agreed to others."""

    def __init__(self, text: str, encoding: str | None = None) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _BREAK.finditer(text))]
        self._codec, self._width = next(
            (known for kind, known in _WIDTHS.items() if kind.value == encoding), ("utf-16-le", 2)
        )

    def range(self, position: Position) -> types.Range:
        """Returns the range of a position of the linter in this text."""
        start = self._offset(position.line, position.column)
        end = self._offset(position.end_line, position.end_column)
        return self.between(start, max(start, end))

    def between(self, start: int, end: int) -> types.Range:
        """Returns the range of the characters between two offsets."""
        return types.Range(self._position(start), self._position(end))

    def at(self, position: types.Position) -> int:
        """Returns the offset of a position of the editor."""
        if position.line >= len(self._starts):
            return len(self.text)
        start = self._starts[position.line]
        ends = self._starts[position.line + 1 : position.line + 2] or [len(self.text)]
        units = self.text[start : ends[0]].rstrip("\r\n").encode(self._codec, "surrogatepass")
        return start + len(units[: position.character * self._width].decode(self._codec, "ignore"))

    def _offset(self, line: int, column: int) -> int:
        if has_plain_breaks(self.text):
            return min(self._starts[min(line, len(self._starts)) - 1] + column - 1, len(self.text))
        return min(offset(self.text, line - 1, column - 1), len(self.text))

    def _position(self, at: int) -> types.Position:
        line = bisect_right(self._starts, at) - 1
        before = self.text[self._starts[line] : at]
        return types.Position(line, len(before.encode(self._codec, "surrogatepass")) // self._width)


def text_edits(ruler: Ruler, new: str) -> list[types.TextEdit]:
    """Returns the edits that turn a text into a new one and leave the lines between them alone."""
    from difflib import SequenceMatcher

    old = _lines(ruler.text)
    ends = [0]
    for line in old:
        ends.append(ends[-1] + len(line))
    changed = _lines(new)
    edits = []
    for tag, first, last, from_, to in SequenceMatcher(None, old, changed, autojunk=False).get_opcodes():
        if tag != "equal":
            edits.append(_shortened(ruler, ends[first], ends[last], "".join(changed[from_:to])))
    return edits


def _shortened(ruler: Ruler, start: int, end: int, new: str) -> types.TextEdit:
    """Returns the edit without the characters that both texts begin and end with: the cursor stays where it is."""
    old = ruler.text[start:end]
    most = min(len(old), len(new))
    head = next((n for n in range(most) if old[n] != new[n]), most)
    tail = next((n for n in range(most - head) if old[-1 - n] != new[-1 - n]), most - head)
    return types.TextEdit(ruler.between(start + head, end - tail), new[head : len(new) - tail])


def _lines(text: str) -> list[str]:
    bounds = [0, *(match.end() for match in _BREAK.finditer(text)), len(text)]
    return [text[start:end] for start, end in pairwise(bounds) if start < end]
