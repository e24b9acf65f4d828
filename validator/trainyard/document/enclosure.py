"""Checks that everything in a folder can be read: rendering a chart opens each of its files and follows links."""

from __future__ import annotations

import os
import stat

from trainyard.document.opening import MAX_BYTES, TOO_LARGE, RefusedError, real_path, reason

# Links to folders that hold links to folders multiply. Charts share a few folders.
_MAX_LINKED = 10_000


def fault_below(folder: str, root: str, *, hidden: bool) -> str | None:
    """Returns the first reason why the files below a folder cannot be read, with the path that it is about.

    Each file must be a regular one, and each link must stay within the root. Hidden folders count if `hidden` is true,
    but never `.git`.
    """
    walk = _Walk(root, hidden=hidden)
    try:
        walk.enter(folder, (os.path.realpath(folder),), linked=False)
    except OSError as error:
        return f"{os.path.relpath(walk.at, folder)}: it cannot be opened: {reason(error)}"
    return None


class _Walk:
    """A walk that follows links; `at` is the path that it is at."""

    def __init__(self, root: str, *, hidden: bool) -> None:
        self._root = root
        self._hidden = hidden
        self._linked = 0
        self.at = ""

    def enter(self, folder: str, above: tuple[str, ...], *, linked: bool) -> None:
        """Checks all entries of a folder; `above` are the real paths of the folders that lead to it."""
        self.at = folder
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            self._linked += linked
            if self._linked > _MAX_LINKED:
                raise RefusedError(f"links lead to more than {_MAX_LINKED:,} files")
            self.at = entry.path
            if entry.is_symlink():
                self._follow(entry.path, above)
            elif entry.is_dir(follow_symlinks=False):
                if entry.name != ".git" and (self._hidden or not entry.name.startswith(".")):
                    self.enter(entry.path, (*above, os.path.join(above[-1], entry.name)), linked=linked)
            else:
                _check(entry.stat(follow_symlinks=False))

    def _follow(self, path: str, above: tuple[str, ...]) -> None:
        real = real_path(path, self._root)
        status = os.stat(real)
        if not stat.S_ISDIR(status.st_mode):
            _check(status)
        elif any(os.path.join(one, "").startswith(os.path.join(real, "")) for one in above):
            raise RefusedError("its link leads to a folder that it is in")
        else:
            self.enter(path, (*above, real), linked=True)


def _check(status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise RefusedError("it is not a regular file")
    if status.st_size > MAX_BYTES:
        raise RefusedError(TOO_LARGE)
