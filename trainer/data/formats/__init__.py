"""Files of samples: one format per file.

Each has the samples' inputs and targets under names of their own, or rows of tokens, of which all but the last are
inputs and all but the first are targets.
"""

from collections.abc import Callable
from pathlib import Path

from trainer.data.formats import npz, parquet, safetensors, webdataset
from trainer.data.formats.shard import Shard

READERS: dict[str, Callable[[Path], Shard]] = {
    ".npz": npz.read,
    ".parquet": parquet.read,
    ".safetensors": safetensors.read,
    ".tar": webdataset.read,
}

__all__ = ["READERS", "Shard"]
