"""Remembers which files were clean, so that they are not read again until they, or the rules, change."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING
from zlib import crc32

from validator import __version__
from validator.cache_folder import cache_folder, keep

if TYPE_CHECKING:
    from validator.engine import Engine
    from validator.files import Found


class Memory:
    """The clean files of a folder for one set of rules. A file is the same while its time and its size are."""

    def __init__(self, engine: Engine) -> None:
        self._about = _about(engine)
        # A weak sum of what the file holds in full: hashlib takes longer to import than all of it to read.
        self._path = cache_folder() / "clean" / f"{crc32(self._about.encode()):08x}"
        self._known: dict[str, int] = {}
        self._now: dict[str, int] = {}
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
            about, known = marshal.loads(self._path.read_bytes())  # noqa: S302 - written by this class, for this user
            self._known = known if about == self._about else {}

    def unknown(self, found: Iterable[Found]) -> list[Found]:
        """The files that were not clean, or have changed since."""
        known, now = self._known, self._now
        for one in found:
            try:
                status = os.stat(one.name)  # noqa: PTH116
            except OSError:
                continue
            # One number: ten thousand tuples take longer to load.
            now[one.name] = status.st_mtime_ns << 40 | status.st_size
        return [one for one in found if one.name not in now or known.get(one.name) != now[one.name]]

    def learn(self, clean: Iterable[Found]) -> None:
        """Remember these files, and no others."""
        learnt = {one.name: stamp for one in clean if (stamp := self._now.get(one.name)) is not None}
        if learnt != self._known:
            keep(self._path, marshal.dumps((self._about, learnt)))


def _about(engine: Engine) -> str:
    """What it depends on whether a file is clean, beside the file."""
    return repr([__version__, _newest(os.path.dirname(__file__)), os.getcwd(), engine.fingerprint])  # noqa: PTH109, PTH120


def _newest(folder: str) -> int:
    """When the validator itself was changed last: whoever writes a rule wants to see it work."""
    newest = os.stat(folder).st_mtime_ns  # noqa: PTH116
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir():
                newest = max(newest, _newest(entry.path))
            elif entry.name.endswith(".py"):
                newest = max(newest, entry.stat().st_mtime_ns)
    return newest
