"""Remembers which files were clean, so that they are not read again until they, or the rules, change."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zlib import crc32

from validator import __version__
from validator.cache_folder import keep, place

if TYPE_CHECKING:
    from validator.engine import Engine
    from validator.files import Found


class Memory:
    """The clean files of a folder for one set of rules. A file is the same while its time and its size are."""

    def __init__(self, engine: Engine) -> None:
        self._about = _about(engine)
        # A weak sum of what the file holds in full: hashlib takes longer to import than all of it to read.
        self._path = place("clean", f"{crc32(self._about.encode()):08x}")
        self._known: dict[str, int] = {}
        self._now: dict[str, int] = {}
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
            with open(self._path, "rb") as stream:
                about, known = marshal.loads(stream.read())  # noqa: S302 - written by this class, for this user
            self._known = known if about == self._about else {}

    def unknown(self, found: Iterable[Found]) -> list[Found]:
        """The files that were not clean, or have changed since."""
        known, now, stat = self._known, self._now, os.stat
        unknown = []
        for one in found:
            try:
                status = stat(one.name)
            except OSError:
                unknown.append(one)
                continue
            # One number: ten thousand tuples take longer to load.
            now[one.name] = stamp = status.st_mtime_ns << 40 | status.st_size
            if known.get(one.name) != stamp:
                unknown.append(one)
        return unknown

    def learn(self, others: Iterable[str]) -> None:
        """Remember as clean the files that `unknown` was asked for, but for these."""
        for name in others:
            self._now.pop(name, None)
        if self._now != self._known:
            keep(self._path, marshal.dumps((self._about, self._now)))


def _about(engine: Engine) -> str:
    """What it depends on whether a file is clean, beside the file."""
    return repr([__version__, _newest(os.path.dirname(__file__)), os.getcwd(), engine.fingerprint])


def _newest(folder: str) -> int:
    """When the validator itself was changed last: whoever writes a rule wants to see it work."""
    newest = os.stat(folder).st_mtime_ns
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                # Compiled code is written by whoever imports it.
                if entry.name == "__pycache__":
                    continue
                newest = max(newest, _newest(entry.path))
            elif entry.name.endswith(".py"):
                newest = max(newest, entry.stat().st_mtime_ns)
    return newest
