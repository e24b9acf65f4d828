"""Caches the names of clean files, so that they are not read again until they, or the rules, change."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zlib import crc32

from trainyard import __version__
from trainyard.cache_folder import cache_path, save_to_cache
from trainyard.document.opening import read_found

if TYPE_CHECKING:
    from trainyard.document.files import Found
    from trainyard.engine.engine import Engine


class CleanCache:
    """The clean files of a folder for one set of rules. A file is unchanged while its stamp is.

    The stamp holds the ctime and the inode, because builds and images give all files the same mtime.
    """

    def __init__(self, engine: Engine) -> None:
        self._about = _cache_key(engine)
        # A checksum of the cache's content: importing hashlib takes longer than reading all of it.
        self._path = cache_path("clean", f"{crc32(self._about.encode()):08x}")
        self._known = _load(self._path, self._about)
        self._now: dict[str, str] = {}

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
            # One text: ten thousand lists take longer to load.
            stamp = f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_ino} {status.st_size}"
            now[one.name] = stamp
            if known.get(one.name) != stamp:
                unknown.append(one)
        return unknown

    def learn(self, others: Iterable[str]) -> None:
        """Records as clean the files that `unknown` was asked for, except these."""
        for name in others:
            self._now.pop(name, None)
        if self._now != self._known:
            save_to_cache(self._path, json.dumps([self._about, self._now]).encode())


def _load(path: str, about: str) -> dict[str, str]:
    """Returns the stamps in a cache file; none if it is damaged, or about something else."""
    try:
        # Others may have written a file in a shared folder: it must be a regular one, of a limited size.
        content = json.loads(read_found(path, os.path.dirname(path)))
        saved, known = content
    except (OSError, ValueError, TypeError, RecursionError):
        return {}
    return known if saved == about and isinstance(known, dict) else {}


def _cache_key(engine: Engine) -> str:
    """Returns everything beside a file on which its cleanness depends."""
    return repr(
        [__version__, _last_change(os.path.dirname(os.path.dirname(__file__))), os.getcwd(), engine.fingerprint]
    )


def _last_change(folder: str) -> int:
    """Returns the last change of the validator's own code and types, so that the author of a rule sees its effect."""
    newest = os.stat(folder).st_mtime_ns
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                # Whoever imports a module writes its compiled code.
                if entry.name == "__pycache__":
                    continue
                newest = max(newest, _last_change(entry.path))
            elif entry.name.endswith((".py", ".txt")):
                newest = max(newest, entry.stat().st_mtime_ns)
    return newest
