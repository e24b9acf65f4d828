"""Parquet. Row groups are decoded on demand and kept in memory up to a limit.

A sample of a row group that is not in memory costs the decoding of the whole group. Safetensors and `.bin` files have
no such cost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError, DataError
from ..batch import Indices
from .shard import InMemory, KnownFile, Rows, Shard, TokensInMemory, in_memory, sample_kind

CACHE_BYTES = 4 << 30
_ROWS_AT_ONCE = 1024

Decoded = InMemory | TokensInMemory
_COLUMNS = {"images": ["inputs", "targets"], "tokens": ["tokens"]}


def read(path: Path) -> list[Shard]:
    """Opens the row groups in `path`: columns of numbers, of lists of numbers, or of lists of lists.

    Raises:
        ConfigError: The package pyarrow is missing, or the columns are no samples.
    """
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"{path} needs the package pyarrow: install it, or write .npz files") from error
    opened = _open(path)
    names = set(opened.schema_arrow.names)
    if "text" in names and not names & {"inputs", "targets", "tokens"}:
        raise ConfigError(f"{path} has texts: write their tokens with python -m trainer.prepare, and train on these")
    columns = _COLUMNS[sample_kind(str(path), names)]
    file, metadata = KnownFile.at(path), opened.metadata
    lengths = [metadata.row_group(number).num_rows for number in range(metadata.num_row_groups)]
    return [RowGroup(file, number, length, tuple(columns)) for number, length in enumerate(lengths) if length]


@dataclass(frozen=True, slots=True)
class RowGroup:
    """One row group of a file."""

    file: KnownFile
    number: int
    length: int
    columns: tuple[str, ...]

    @property
    def name(self) -> str:
        """The file and the row group."""
        return f"{self.file.path} (row group {self.number})"

    def __len__(self) -> int:
        return self.length

    def rows(self, indices: Indices) -> Rows:
        """Returns copies of the rows."""
        self.file.check()
        return _cache.get(self).rows(indices)

    def first(self) -> Rows:
        """Decodes the first row, and no more than a page of each column."""
        return self._convert([next(self._batches(1))]).first()

    def decode(self) -> Decoded:
        """Decodes all rows."""
        # In one piece, arrow takes five times as long and ten times the memory.
        return self._convert(list(self._batches(_ROWS_AT_ONCE)))

    def _batches(self, size: int) -> Iterator[Any]:
        batches: Iterator[Any] = _open(self.file.path).iter_batches(
            batch_size=size, row_groups=[self.number], columns=self.columns, use_threads=False
        )
        return batches

    def _convert(self, batches: Sequence[Any]) -> Decoded:
        columns = {name: [batch.column(name) for batch in batches] for name in self.columns}
        return in_memory(self.name, {name: _to_numpy(self.name, name, arrays) for name, arrays in columns.items()})


class _Cache:
    """The decoded row groups of this process. The one that was used longest ago is dropped first."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = 0
        self._groups: OrderedDict[RowGroup, Decoded] = OrderedDict()

    def get(self, group: RowGroup) -> Decoded:
        if (found := self._groups.get(group)) is not None:
            self._groups.move_to_end(group)
            return found
        decoded = group.decode()
        self._bytes += decoded.nbytes
        while self._groups and self._bytes > self._limit:
            self._bytes -= self._groups.popitem(last=False)[1].nbytes
        self._groups[group] = decoded
        return decoded


_cache = _Cache(CACHE_BYTES)


# A file of a thousand row groups would otherwise be opened a thousand times; ten thousand files would stay open.
@lru_cache(maxsize=64)
def _open(path: Path) -> Any:
    import pyarrow.parquet

    return pyarrow.parquet.ParquetFile(path, memory_map=True)


def _to_numpy(name: str, column: str, chunks: Sequence[Any]) -> NDArray[Any]:
    """Converts arrow arrays, without a Python object for each value."""
    try:
        arrays = [_chunk_to_numpy(chunk) for chunk in chunks if len(chunk)]
        return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    except ValueError as error:
        raise DataError(
            f"{name}: column {column}: {error}: write lists of one length, without nulls, or leave those rows out"
        ) from error


def _list_types() -> list[Any]:
    from pyarrow import types

    return [types.is_list, types.is_large_list, types.is_fixed_size_list]


def _chunk_to_numpy(array: Any) -> NDArray[Any]:
    import pyarrow.compute

    shape = [len(array)]
    while any(is_a(array.type) for is_a in _list_types()):
        if array.null_count:
            raise ValueError("has nulls")
        lengths = pyarrow.compute.unique(pyarrow.compute.list_value_length(array)).to_pylist()
        if len(lengths) > 1:
            raise ValueError("the lists differ in length")
        shape.append(lengths[0])
        array = array.flatten()
    if array.null_count:
        raise ValueError("has nulls")
    values: NDArray[Any] = array.to_numpy(zero_copy_only=False)
    return values.reshape(shape)
