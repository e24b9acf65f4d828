"""Caches the names of clean files, so that they are not read again until they, or the rules, change."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zlib import crc32

from trainyard import __version__
from trainyard.cache_folder import cache_path, save_to_cache

if TYPE_CHECKING:
    from trainyard.document.files import Found
    from trainyard.engine.engine import Engine


class CleanCache:
    """The clean files of a folder for one set of rules. A file is unchanged while its mtime and size are."""

    def __init__(self, engine: Engine) -> None:
        self._about = _cache_key(engine)
        # A checksum of the cache's content: importing hashlib takes longer than reading all of it.
        self._path = cache_path("clean", f"{crc32(self._about.encode()):08x}")
        self._known: dict[str, int] = {}
        self._now: dict[str, int] = {}
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
            with open(self._path, "rb") as stream:
                about, known = marshal.loads(stream.read())  # noqa: S302 - written by this class, for this user
            self._known = known if about == self._about else {}

    def unknown(self, found: Iterable[Found]) -> list[Found]:
        """Returns the files that were not clean, or have changed since."""
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
        """Records as clean the files that `unknown` was asked for, except these."""
        for name in others:
            self._now.pop(name, None)
        if self._now != self._known:
            save_to_cache(self._path, marshal.dumps((self._about, self._now)))


def _cache_key(engine: Engine) -> str:
    """Returns everything beside a file on which its cleanness depends."""
    return repr(
        [__version__, _last_change(os.path.dirname(os.path.dirname(__file__))), os.getcwd(), engine.fingerprint]
    )


def _last_change(folder: str) -> int:
    """Returns the last change of the validator's own code, so that the author of a rule sees its effect."""
    newest = os.stat(folder).st_mtime_ns
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                # Whoever imports a module writes its compiled code.
                if entry.name == "__pycache__":
                    continue
                newest = max(newest, _last_change(entry.path))
            elif entry.name.endswith(".py"):
                newest = max(newest, entry.stat().st_mtime_ns)
    return newest
