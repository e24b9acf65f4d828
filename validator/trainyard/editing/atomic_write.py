"""Replaces files atomically."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path

from trainyard.document.opening import RefusedError, read_named


def replace(path: Path, data: bytes, expected: bytes | None = None) -> None:
    """Replaces a file's content; a concurrent reader sees the old or the new content, never a part.

    A symbolic link stays, and its target is replaced. With `expected`, raises `RefusedError` if the file has other
    content by now, or other names that would keep the old content.
    """
    target = path.resolve()
    handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask()
        Path(name).chmod(mode)
        if expected is not None:
            _check(target, expected)
        Path(name).replace(target)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _check(target: Path, expected: bytes) -> None:
    if target.stat().st_nlink > 1:
        raise RefusedError("it has several hard links, and the others would keep the old content; copy the file first")
    if read_named(str(target)) != expected:
        raise RefusedError("it has changed since it was read; run `trainyard fix` again")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
