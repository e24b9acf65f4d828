"""Where the validator keeps what it need not find out twice."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder, which may not exist yet: `$TRAINYARD_CACHE`, or the user's own for caches."""
    override = os.environ.get("TRAINYARD_CACHE")
    if override:
        return Path(override)
    from platformdirs import user_cache_path

    return user_cache_path("trainyard")
