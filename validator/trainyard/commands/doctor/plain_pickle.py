"""Reads the plain values of a pickle: dictionaries, lists, tuples, texts and numbers.

Python's own `pickle` would call functions that a file names. This reader knows no opcode that names one, and no number
in a file makes it take more memory than the file has bytes.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

PROTOCOL = b"\x80\x02"
_MARK = object()
# Longer integers take quadratic time in Python; PyTorch writes integers of 64 bits.
_LONGEST_INTEGER = 16


class PlainPickleError(Exception):
    """The pickle is cut off, or holds more than plain values."""


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0
        self._stack: list[Any] = []
        self._memo: dict[int, Any] = {}

    def read(self) -> Any:
        while (code := self._take(1)) != b".":
            action = _ACTIONS.get(code)
            if action is None:
                raise PlainPickleError(f"opcode {code!r} at byte {self._at - 1} is not that of a plain value")
            action(self)
        return self._stack.pop()

    def _take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) < size:
            raise PlainPickleError("the file is cut off")
        self._at += size
        return part

    def number(self, form: str) -> int:
        value: int = struct.unpack(form, self._take(struct.calcsize(form)))[0]
        return value

    def push(self, value: Any) -> None:
        self._stack.append(value)

    def protocol(self) -> None:
        self.number("<B")

    def text(self) -> None:
        self.push(self._take(self.number("<I")).decode("utf-8", "replace"))

    def integer(self) -> None:
        size = self.number("<B")
        if size > _LONGEST_INTEGER:
            raise PlainPickleError("an integer is too long")
        self.push(int.from_bytes(self._take(size), "little", signed=True))

    def real(self) -> None:
        self.push(struct.unpack(">d", self._take(8))[0])

    def put(self, form: str) -> None:
        self._memo[self.number(form)] = self._stack[-1]

    def get(self, form: str) -> None:
        self.push(self._memo[self.number(form)])

    def tuple_of(self, size: int) -> None:
        if size > len(self._stack):
            raise PlainPickleError("a tuple lacks items")
        items = self._stack[len(self._stack) - size :]
        del self._stack[len(self._stack) - size :]
        self.push(tuple(items))

    def marked(self) -> list[Any]:
        items: list[Any] = []
        while (item := self._stack.pop()) is not _MARK:
            items.append(item)
        return items[::-1]

    def append(self) -> None:
        items = self.marked()
        self._stack[-1].extend(items)

    def set_items(self) -> None:
        items = self.marked()
        self._stack[-1].update(zip(items[::2], items[1::2], strict=True))


# The opcodes of torch/csrc/jit/serialization/pickler.h that make plain values.
_ACTIONS: dict[bytes, Callable[[_Reader], None]] = {
    b"\x80": _Reader.protocol,
    b"(": lambda reader: reader.push(_MARK),
    b"}": lambda reader: reader.push({}),
    b"]": lambda reader: reader.push([]),
    b")": lambda reader: reader.push(()),
    b"N": lambda reader: reader.push(None),
    b"\x88": lambda reader: reader.push(True),
    b"\x89": lambda reader: reader.push(False),
    b"X": _Reader.text,
    b"K": lambda reader: reader.push(reader.number("<B")),
    b"M": lambda reader: reader.push(reader.number("<H")),
    b"J": lambda reader: reader.push(reader.number("<i")),
    b"\x8a": _Reader.integer,
    b"G": _Reader.real,
    b"q": lambda reader: reader.put("<B"),
    b"r": lambda reader: reader.put("<I"),
    b"h": lambda reader: reader.get("<B"),
    b"j": lambda reader: reader.get("<I"),
    b"t": lambda reader: reader.push(tuple(reader.marked())),
    b"\x85": lambda reader: reader.tuple_of(1),
    b"\x86": lambda reader: reader.tuple_of(2),
    b"\x87": lambda reader: reader.tuple_of(3),
    b"e": _Reader.append,
    b"u": _Reader.set_items,
}


def loads(data: bytes) -> Any:
    """Returns the value of a pickle.

    Raises:
        PlainPickleError: The pickle is cut off, or holds more than plain values.
    """
    try:
        return _Reader(data).read()
    except (LookupError, AttributeError, TypeError, ValueError, struct.error):
        raise PlainPickleError("the file is damaged") from None
