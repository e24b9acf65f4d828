"""One long array of tokens, `.bin`, cut into consecutive rows. Rows are read on demand.

Without a header the tokens are uint16, as nanoGPT writes them, or uint32 in a file named `*.uint32.bin`. The header of
llm.c names the type.
Sources: https://github.com/karpathy/nanoGPT/blob/master/data/openwebtext/prepare.py and
https://github.com/karpathy/llm.c/blob/master/dev/data/data_common.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from ..batch import Indices
from .shard import KnownFile, Rows, split_tokens

_HEADER_BYTES = 256 * 4
# Magic number and version, the first two int32 of a header of llm.c, and the type of the tokens.
_HEADERS: dict[tuple[int, int], np.dtype[Any]] = {(20240520, 1): np.dtype("<u2"), (20240801, 7): np.dtype("<u4")}
_MAGIC_NUMBERS = {magic for magic, _ in _HEADERS}


def read(path: Path, context_length: int) -> TokenFile:
    """Opens the rows of `context_length` + 1 tokens in `path`. The last token of a row is the first of the next one.

    Raises:
        ConfigError: The file has another format.
    """
    if path.with_suffix(".idx").exists():
        raise ConfigError(f"{path} has an index, {path.stem}.idx: write the tokens as a plain array, as nanoGPT does")
    return TokenFile(KnownFile.at(path), context_length)


class TokenFile:
    """A mapped file of tokens."""

    def __init__(self, file: KnownFile, context_length: int) -> None:
        self._file = file
        self._length = context_length
        self._tokens: NDArray[Any] | None = None

    @property
    def name(self) -> str:
        """The file."""
        return str(self._file.path)

    def __len__(self) -> int:
        # The last target of a row needs one more token.
        return max(len(self._mapped()) - 1, 0) // self._length

    def __reduce__(self) -> tuple[type[TokenFile], tuple[KnownFile, int]]:
        # NumPy would pickle the content of the file.
        return type(self), (self._file, self._length)

    def rows(self, indices: Indices) -> Rows:
        """Reads the rows."""
        self._file.check()
        return split_tokens(self._mapped()[indices[:, None] * self._length + np.arange(self._length + 1)])

    def first(self) -> Rows:
        """Reads the first row."""
        return self.rows(np.zeros(1, np.int64))

    def _mapped(self) -> NDArray[Any]:
        if self._tokens is None:
            self._tokens = _map(self._file)
        return self._tokens


def _map(file: KnownFile) -> NDArray[Any]:
    offset, dtype = _layout(file.path)
    size = file.size - offset
    if size % dtype.itemsize:
        raise ConfigError(
            f"{file.path} has {size} bytes of tokens, no multiple of {dtype.itemsize}: write {dtype.name} tokens, in a "
            "file named *.uint32.bin if they are uint32"
        )
    # NumPy refuses to map an empty file.
    return np.memmap(file.path, dtype, mode="r", offset=offset) if size else np.zeros(0, dtype)


def _layout(path: Path) -> tuple[int, np.dtype[Any]]:
    """Returns the offset and the type of the tokens in `path`."""
    with path.open("rb") as stream:
        words = np.frombuffer(stream.read(8), np.uint8)
    if len(words) == 8:
        magic, version = (int(word) for word in words.view("<i4"))
        if dtype := _HEADERS.get((magic, version)):
            return _HEADER_BYTES, dtype
        if magic in _MAGIC_NUMBERS:
            raise ConfigError(f"{path} has version {version} of the header of llm.c: write a plain array of tokens")
    return 0, np.dtype("<u4" if path.name.endswith(".uint32.bin") else "<u2")
