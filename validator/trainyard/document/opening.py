"""Opens files without trust: a repository may hold links to anywhere, pipes, and files without an end.

A file that the user names may be of any kind, such as the pipe of a process substitution. But a link in a repository
must not lead out of it, because scripts of CI name the files that a branch changes. A file that was found, in a folder
or through a configuration, must be a regular file within a folder that the user trusts.
"""

from __future__ import annotations

import errno
import os
import stat
import time

MAX_BYTES = 32 * 1024 * 1024
TOO_LARGE = f"it is larger than {MAX_BYTES >> 20} MiB"
_NOT_REGULAR = "it is not a regular file"

_CHUNK = 64 * 1024
# A program that writes to a named pipe opens it before this time, in seconds, and may then write as late as it likes.
_PATIENCE = 5.0
# A pipe, or a device, must not be waited for. Windows has none of these flags.
_NONBLOCK = getattr(os, "O_NONBLOCK", 0)
_FLAGS = os.O_RDONLY | _NONBLOCK | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)
_NOFOLLOW = getattr(os, "O_NOFOLLOW", 0)


class RefusedError(OSError):
    """A file that is not opened; `strerror` gives the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(errno.EPERM, reason)


def reason(error: OSError) -> str:
    """Returns the reason why a file cannot be opened, to stand after a colon."""
    if isinstance(error, RefusedError):
        return str(error.strerror)
    return (error.strerror or str(error)).lower()


def read_named(path: str) -> bytes:
    """Returns a file that the user named, and no more than `MAX_BYTES` + 1 bytes of it. Raises `OSError`."""
    if os.path.islink(path) and (root := repository(os.path.dirname(path))) is not None:
        try:
            path = real_path(path, root)
        except RefusedError as error:
            raise RefusedError(f"{error.strerror}; name its target to read that") from None
    handle = os.open(path, _FLAGS)
    try:
        first = _first_part(handle) if _is_named_pipe(handle, path) else b""
        if _NONBLOCK:
            os.set_blocking(handle, True)
        return (first + _read(handle))[: MAX_BYTES + 1] if first else _read(handle)
    finally:
        os.close(handle)


def read_found(path: str, root: str) -> bytes:
    """Returns a regular file that was found in a folder, and no more than `MAX_BYTES` + 1 bytes of it.

    The file may be a link within the root, but none of the folders between them. Raises `OSError`.
    """
    # The kernel refuses a link: asking first would cost a call for each of thousands of files.
    if not _NOFOLLOW and os.path.islink(path):
        path = real_path(path, root)
    try:
        handle = os.open(path, _FLAGS | _NOFOLLOW)
    except OSError:
        if not os.path.islink(path):
            raise
        handle = os.open(real_path(path, root), _FLAGS | _NOFOLLOW)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise RefusedError(_NOT_REGULAR)
        return _read(handle)
    finally:
        os.close(handle)


def read_text(path: str, root: str | None = None) -> str:
    """Returns the text of a file that the user named, or that was found in a root. Raises also `UnicodeDecodeError`."""
    data = read_named(path) if root is None else read_found(real_path(path, root), root)
    if len(data) > MAX_BYTES:
        raise RefusedError(TOO_LARGE)
    return data.decode("utf-8")


def check_found(path: str, root: str) -> None:
    """Raises `OSError` unless a path leads to a regular file within the root."""
    if not stat.S_ISREG(os.stat(real_path(path, root)).st_mode):
        raise RefusedError(_NOT_REGULAR)


def real_path(path: str, root: str) -> str:
    """Returns a path without links. Raises `RefusedError` if it is not within the root."""
    real, top = os.path.realpath(path), os.path.join(os.path.realpath(root), "")
    if os.path.join(real, "") != top and not real.startswith(top):
        raise RefusedError(f"{_leads(path)} out of `{root}`")
    # Credentials of the checkout are in .git/config.
    if ".git" in real[len(top) :].split(os.sep):
        raise RefusedError(f"{_leads(path)} into a .git folder")
    return real


def _leads(path: str) -> str:
    return "its link leads" if os.path.islink(path) else "its path leads"


def repository(folder: str) -> str | None:
    """Returns the root of the repository that a folder is in, as an absolute path."""
    current = os.path.abspath(folder)
    while not os.path.exists(os.path.join(current, ".git")):
        current, child = os.path.dirname(current), current
        if current == child:
            return None
    return current


def _is_named_pipe(handle: int, path: str) -> bool:
    """True for a pipe in a folder. That of a process substitution has no name, and nothing can open it later."""
    return stat.S_ISFIFO(os.fstat(handle).st_mode) and os.path.exists(os.path.realpath(path))


def _first_part(handle: int) -> bytes:
    """Returns what a named pipe holds once it has a writer, which may be nothing yet. Raises `RefusedError`."""
    end = time.monotonic() + _PATIENCE
    while True:
        try:
            part = os.read(handle, _CHUNK)
        except BlockingIOError:
            return b""  # there is a writer, which has written nothing yet
        if part:
            return part
        if time.monotonic() > end:
            raise RefusedError(f"it is a named pipe, and nothing has written to it in {_PATIENCE:g} seconds")
        time.sleep(0.01)


def _read(handle: int) -> bytes:
    """Returns what a file holds, up to the limit: the size that the system reports may be wrong, or 0."""
    parts: list[bytes] = []
    left = MAX_BYTES + 1
    while left and (part := os.read(handle, min(left, _CHUNK))):
        parts.append(part)
        left -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
