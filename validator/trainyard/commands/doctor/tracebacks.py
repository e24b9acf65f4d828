"""Tracebacks of Python: the line of the user's program, and the exception at the end.

Lines of several ranks may be mixed, so each rank or pod has a traceback of its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from trainyard.commands.doctor.cause import Sign

START = Sign("Traceback (most recent call last)")
FRAME = Sign('File "', r'^\s*File "[^"]+", line \d+')
# `[pod/llm-0/trainer] `, `[rank3]: `, `[default3]:`, `[1,3]<stderr>:`, `(Worker pid=7, ip=10.0.0.1) `, `stderr: `
_PREFIX = re.compile(
    r"^(?:\[pod/[^\]]+\] |\[(?:rank|default)\d+\]: ?|"
    r"\[\d+,\d+\]<std\w+>: ?|\([\w. ]+ pid=\d+[^)]*\) |std(?:err|out): )+"
)
_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)')
_EXCEPTION = re.compile(r"^[A-Za-z_][\w.]*(?:: .*)?$")
_INDENTED_OR_BETWEEN = re.compile(r"\s|The above exception was |During handling of ")
# Packages, the standard library, and code without a file.
_LIBRARY = re.compile(r"(?:site|dist)-packages/|/lib(?:64)?/python\d|^<|^[\w/]*\.pyx$|/bin/[\w-]+$")
_LONGEST = 400
_MOST = 4096


def without_prefix(message: str) -> str:
    """Returns the message of a line without the rank, pod or process that a launcher writes before it."""
    return _PREFIX.sub("", message)


def is_part(text: str) -> bool:
    """Returns true if a line without prefix may stand in a traceback, other than as the exception at its end."""
    return START.fits(text) or _INDENTED_OR_BETWEEN.match(text) is not None


class Found(NamedTuple):
    """The end of a traceback.

    Attributes:
        is_exception: The line is the exception that ends a traceback.
        frame: File and line of the user's program that led to it; empty if only packages appear.
    """

    is_exception: bool
    frame: str


class _Open:
    def __init__(self) -> None:
        self.frame = ""
        self.left = _LONGEST


class Tracebacks:
    """The tracebacks that are open in one log."""

    def __init__(self) -> None:
        self._by_origin: dict[str | None, _Open] = {}

    @property
    def active(self) -> bool:
        """Returns true while the end of a traceback is expected."""
        return bool(self._by_origin)

    def read(self, message: str, origin: str | None) -> Found:
        """Reads the message of a line. The frame is that of the innermost line of the user's own files."""
        text = without_prefix(message)
        if START.fits(text) and len(self._by_origin) < _MOST:
            self._by_origin[origin] = _Open()
        one = self._by_origin.get(origin)
        if one is None:
            return Found(False, "")
        one.left -= 1
        if (found := _FRAME.match(text)) is not None:
            if _LIBRARY.search(found[1]) is None:
                one.frame = f"{found[1]}:{found[2]}"
        elif _EXCEPTION.match(text) is not None:
            del self._by_origin[origin]
            return Found(True, one.frame)
        if not one.left:
            del self._by_origin[origin]
        return Found(False, one.frame)
