"""The folder of the validator's caches.

Paths are strings here: importing pathlib takes longer than reading the cache.
"""

from __future__ import annotations

import contextlib
import os


def cache_path(kind: str, name: str) -> str:
    """Returns the path of a cache file in `$TRAINYARD_CACHE` or in the user's cache folder; it may not exist yet."""
    folder = os.environ.get("TRAINYARD_CACHE")
    if not folder:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("trainyard")
    return os.path.join(folder, kind, name)


def save_to_cache(path: str, data: bytes) -> None:
    """Writes a file atomically. Best effort: an unwritable cache only costs speed."""
    draft = f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        # In a shared folder, the draft may be a link that another user has made.
        with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(data)
        os.replace(draft, path)
