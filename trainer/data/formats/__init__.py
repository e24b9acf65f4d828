"""File formats of samples.

A file contains arrays `inputs` and `targets`, or rows of `tokens`: all but the last token are inputs, all but the first
are targets. A file of one long array of tokens is cut into such rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import npz, parquet, safetensors, token_file, webdataset
from .shard import Shard

SUFFIXES = (".bin", ".npz", ".parquet", ".safetensors", ".tar")


def open_shards(path: Path, context_length: int) -> Sequence[Shard]:
    """Opens the samples in `path`, whose suffix is one of `SUFFIXES`.

    `context_length` is the length of the rows that an array of tokens is cut into.

    Raises:
        ConfigError: A package is missing, or the file holds no samples that the trainer can read.
    """
    match path.suffix:
        case ".bin":
            return [token_file.read(path, context_length)]
        case ".npz":
            return [npz.read(path)]
        case ".parquet":
            return parquet.read(path)
        case ".safetensors":
            return [safetensors.read(path)]
        case _:
            return [webdataset.read(path)]


__all__ = ["SUFFIXES", "Shard", "open_shards"]
