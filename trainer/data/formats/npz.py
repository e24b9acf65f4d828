"""NumPy archives. A file is read into memory."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .shard import Shard, in_memory


def read(path: Path) -> Shard:
    """Reads the samples in `path`."""
    # A pickle could run code of its author.
    with np.load(path, allow_pickle=False) as archive:
        return in_memory(str(path), dict(archive))
