"""Where the validator keeps what it need not find out twice.

Paths are strings here: importing pathlib takes longer than reading what is kept.
"""

from __future__ import annotations

import contextlib
import os


def place(kind: str, name: str) -> str:
    """Path of a file of this kind in `$TRAINYARD_CACHE`, or in the user's folder for caches; it may not exist yet."""
    folder = os.environ.get("TRAINYARD_CACHE")
    if not folder:
        from platformdirs import user_cache_dir

        folder = user_cache_dir("trainyard")
    return os.path.join(folder, kind, name)


def keep(path: str, data: bytes) -> None:
    """Put a file there, whole or not at all; without a place to write the next run is slower, and no less right."""
    draft = f"{path}.{os.getpid()}"
    with contextlib.suppress(OSError):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(draft, "wb") as stream:
            stream.write(data)
        os.replace(draft, path)
