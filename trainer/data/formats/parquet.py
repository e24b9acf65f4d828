"""Parquet. A file is read into memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from trainer.data.formats.shard import InMemory, in_memory
from trainer.errors import ConfigError


def read(path: Path) -> InMemory:
    """Reads the samples in `path`: columns of numbers, of lists of numbers, or of lists of lists.

    Raises:
        ConfigError: The package pyarrow is missing, or the lists of a column differ in length.
    """
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ConfigError(f"{path} needs the package pyarrow: install it, or write .npz files") from error
    table = pyarrow.parquet.read_table(path)
    return in_memory(path, {name: _array(path, name, table[name].to_pylist()) for name in table.column_names})


def _array(path: Path, name: str, values: list[Any]) -> NDArray[Any]:
    try:
        array = np.array(values)
    except ValueError as error:
        raise ConfigError(f"{path}: the lists in column {name} differ in length: write equal ones") from error
    # Python lists of floats become float64; the samples are float32.
    return array.astype(np.float32) if array.dtype == np.float64 else array
