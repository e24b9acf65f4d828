"""Remembers which files were clean, so that they are not read again until they, or the rules, change."""

from __future__ import annotations

import contextlib
import marshal
import os
from collections.abc import Iterable
from typing import TYPE_CHECKING

from validator import __version__
from validator.cache_folder import cache_folder, keep

if TYPE_CHECKING:
    from validator.engine import Engine
    from validator.files import Found

_Stamp = tuple[int, int]


class Memory:
    """The clean files of a folder for one set of rules. A file is the same while its time and its size are."""

    def __init__(self, engine: Engine) -> None:
        self._path = cache_folder() / "clean" / _key(engine)
        self._known: dict[str, _Stamp] = {}
        self._now: dict[str, _Stamp] = {}
        with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
            self._known = marshal.loads(self._path.read_bytes())  # noqa: S302 - written by this class, for this user

    def knows(self, found: Found) -> bool:
        """Whether the file was clean and is the same."""
        stamp = self._stamp(found)
        return stamp is not None and self._known.get(found.name) == stamp

    def learn(self, clean: Iterable[Found]) -> None:
        """Remember these files, and no others."""
        learnt = {one.name: stamp for one in clean if (stamp := self._now.get(one.name)) is not None}
        if learnt != self._known:
            keep(self._path, marshal.dumps(learnt))

    def _stamp(self, found: Found) -> _Stamp | None:
        try:
            status = os.stat(found.name)  # noqa: PTH116
        except OSError:
            return None
        stamp = self._now[found.name] = (status.st_mtime_ns, status.st_size)
        return stamp


def _key(engine: Engine) -> str:
    from hashlib import blake2b

    about = [__version__, _newest(os.path.dirname(__file__)), os.getcwd(), engine.fingerprint]  # noqa: PTH109, PTH120
    return blake2b(repr(about).encode(), digest_size=16).hexdigest()


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
