"""Safetensors. Rows are read on demand, so a file may be larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError
from ..batch import Indices
from .shard import Kind, KnownFile, Rows, check_equal_numbers, check_rank_of_tokens, sample_kind, split_tokens


def read(path: Path) -> SafetensorsFile:
    """Opens the samples in `path`.

    Raises:
        ConfigError: The package safetensors is missing, or the tensors are no samples.
    """
    try:
        import safetensors  # noqa: F401
    except ImportError as error:
        raise ConfigError(f"{path} needs the package safetensors: install it, or write .npz files") from error
    return SafetensorsFile(KnownFile.at(path))


class SafetensorsFile:
    """A mapped file."""

    def __init__(self, file: KnownFile) -> None:
        self._file = file
        self._opened: Any = None

    @property
    def name(self) -> str:
        """The file."""
        return str(self._file.path)

    def __len__(self) -> int:
        if self._kind == "tokens":
            check_rank_of_tokens(self.name, len(self._tensor("tokens").get_shape()))
            return int(self._tensor("tokens").get_shape()[0])
        inputs, targets = (int(self._tensor(name).get_shape()[0]) for name in ("inputs", "targets"))
        check_equal_numbers(self.name, inputs, targets)
        return targets

    def __reduce__(self) -> tuple[type[SafetensorsFile], tuple[KnownFile]]:
        # A worker process maps the file itself.
        return type(self), (self._file,)

    def rows(self, indices: Indices) -> Rows:
        """Reads the rows."""
        self._file.check()
        if self._kind == "tokens":
            return split_tokens(self._read("tokens", indices))
        return self._read("inputs", indices), self._read("targets", indices)

    def first(self) -> Rows:
        """Reads the first row."""
        return self.rows(np.zeros(1, np.int64))

    @property
    def _kind(self) -> Kind:
        return sample_kind(self.name, self._file_handle().keys())

    def _read(self, name: str, indices: Indices) -> NDArray[Any]:
        tensor = self._tensor(name)
        rows: NDArray[Any] = np.stack([tensor[int(index) : int(index) + 1][0] for index in indices])
        return rows

    def _tensor(self, name: str) -> Any:
        return self._file_handle().get_slice(name)

    def _file_handle(self) -> Any:
        if self._opened is None:
            from safetensors import safe_open

            self._opened = safe_open(self._file.path, framework="numpy")
        return self._opened
