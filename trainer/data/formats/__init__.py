"""File formats of samples, one per file.

A file contains arrays `inputs` and `targets`, or rows of `tokens`: all but the last token are inputs, all but the first
are targets.
"""

from __future__ import annotations

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
