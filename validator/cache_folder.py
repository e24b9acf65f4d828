"""Where the validator keeps what it need not find out twice."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder, which may not exist yet: `$TRAINYARD_CACHE`, or the user's own for caches."""
    override = os.environ.get("TRAINYARD_CACHE")
    if override:
        return Path(override)
    from platformdirs import user_cache_path

    return user_cache_path("trainyard")


def keep(path: Path, data: bytes) -> None:
    """Put a file there, whole or not at all; without a place to write the next run is slower, and no less right."""
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_bytes(data)
        draft.replace(path)
