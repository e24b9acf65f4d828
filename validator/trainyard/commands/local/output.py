"""Prints the nodes' output line by line, with the name of the node before each line."""

from __future__ import annotations

import re
import selectors
from collections.abc import Callable
from typing import IO, TextIO

from trainyard.reporters import wants_color

# A progress bar ends its lines with a carriage return alone. One at the end may be the first half of `\r\n`.
_LINE = re.compile(rb"([^\r\n]*)(\r\n|\n|\r(?!\Z))")
_COLORS = (36, 33, 35, 32, 34, 31)
_CHUNK = 65536
# The part of a line that is kept.
_LONGEST = 500


class Output:
    """Passes on the data of pipes. `is_gone` is true if nobody reads it any more, as with `head`."""

    def __init__(self) -> None:
        self._selector = selectors.DefaultSelector()
        self.is_gone = False

    def add(
        self, index: int, name: str, pipe: IO[bytes], stream: TextIO | None, keep: Callable[[str], None] | None = None
    ) -> None:
        """Passes on the data of a pipe to a stream, unless that is None, and each line to `keep`."""
        lines = _Lines(_prefix(index, name, stream) if stream else b"", stream, keep)
        self._selector.register(pipe, selectors.EVENT_READ, lines)

    def pump(self, seconds: float) -> bool:
        """Passes on the data that is there or arrives within these seconds; False if all pipes have ended."""
        for key, _ in self._selector.select(seconds):
            data = key.fileobj.read1(_CHUNK)  # type: ignore[union-attr]
            if not data:
                self._selector.unregister(key.fileobj)
            self._write(key.data, data)
        return bool(self._selector.get_map())

    def _write(self, lines: _Lines, data: bytes) -> None:
        if self.is_gone:
            return
        try:
            lines.write(data)
        except BrokenPipeError:
            self.is_gone = True

    def close(self) -> None:
        """Closes the pipes."""
        self._selector.close()


class _Lines:
    def __init__(self, prefix: bytes, stream: TextIO | None, keep: Callable[[str], None] | None) -> None:
        self._prefix, self._stream, self._keep, self._rest = prefix, stream, keep, b""

    def write(self, data: bytes) -> None:
        """Writes the complete lines; without data, the rest."""
        self._rest += data
        text, end = b"", 0
        for match in _LINE.finditer(self._rest):
            end = match.end()
            if match[1] or match[2] != b"\r":
                text += self._line(match[1])
        self._rest = self._rest[end:]
        if self._rest and (not data or len(self._rest) > _CHUNK):
            text, self._rest = text + self._line(self._rest), b""
        if text and self._stream is not None:
            self._stream.flush()
            self._stream.buffer.write(text)
            self._stream.buffer.flush()

    def _line(self, line: bytes) -> bytes:
        if self._keep is not None:
            self._keep(line[:_LONGEST].decode(errors="replace"))
        return self._prefix + line + b"\n"


def _prefix(index: int, name: str, stream: TextIO) -> bytes:
    if not wants_color("auto", on_terminal=stream.isatty()):
        return f"[{name}] ".encode()
    return f"\033[{_COLORS[index % len(_COLORS)]}m[{name}]\033[0m ".encode()
