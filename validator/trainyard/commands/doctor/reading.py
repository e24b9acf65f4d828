"""Reads logs in blocks of whole lines, so that a log of any size takes the memory of one block."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

from trainyard.commands.doctor.errors import DoctorError
from trainyard.document.opening import reason

_BLOCK = 1 << 18
_LONGEST = 1 << 20
STDIN = "-"
# The first bytes of gzip, zstd and xz.
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ")


class Block(NamedTuple):
    """Lines of a log, and the number of the first one."""

    first: int
    data: bytes


def files(names: Iterable[str]) -> Iterator[str]:
    """Returns the files that the names stand for: of a folder, all regular files below it.

    Raises:
        DoctorError: A name does not exist, or a folder has no files.
    """
    for name in dict.fromkeys(names):
        if name == STDIN:
            yield name
        elif Path(name).is_dir():
            yield from _below(name)
        elif Path(name).exists():
            yield name
        else:
            raise DoctorError(f"{name}: no such file or folder; name logs, folders of logs, or - for standard input")


def _below(folder: str) -> Iterator[str]:
    found = False
    for parent, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(parent, name)
            try:
                regular = stat.S_ISREG(path.stat().st_mode)
            except OSError:
                continue
            if regular:
                found = True
                yield str(path)
    if not found:
        raise DoctorError(f"{folder}: the folder has no files; name a folder with logs")


def blocks(name: str) -> Iterator[Block]:
    """Returns the blocks of a log.

    Raises:
        DoctorError: The file cannot be read, or is no text.
    """
    try:
        if name == STDIN:
            yield from _blocks(sys.stdin.buffer, "standard input")
            return
        with Path(name).open("rb") as stream:
            yield from _blocks(stream, name)
    except OSError as error:
        raise DoctorError(f"{name}: it cannot be read: {reason(error)}") from None


def _blocks(stream: BinaryIO, name: str) -> Iterator[Block]:
    line, rest = 1, b""
    while data := stream.read(_BLOCK):
        if line == 1 and not rest:
            _require_text(data, name)
        data = rest + data
        end = data.rfind(b"\n") + 1
        if not end and len(data) < _LONGEST:
            rest = data
            continue
        # A line without an end is cut, so that it does not fill the memory.
        end = end or len(data)
        yield Block(line, data[:end])
        line += data.count(b"\n", 0, end)
        rest = data[end:]
    if rest:
        yield Block(line, rest)


def _require_text(start: bytes, name: str) -> None:
    if start.startswith(_COMPRESSED):
        raise DoctorError(f"{name}: the file is compressed; decompress it, as in `zcat FILE | trainyard doctor -`")
    if b"\0" in start[:8192]:
        raise DoctorError(f"{name}: the file is binary, or not in UTF-8; name text logs")
