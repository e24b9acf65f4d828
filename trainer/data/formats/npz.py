"""NumPy's archives. A file is read whole."""

from pathlib import Path

import numpy as np

from trainer.data.formats.shard import InMemory, in_memory


def read(path: Path) -> InMemory:
    """The samples in `path`."""
    # Without pickles: they could run the code of whoever wrote them.
    with np.load(path, allow_pickle=False) as archive:
        return in_memory(path, dict(archive))
