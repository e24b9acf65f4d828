"""Safetensors. Rows are read on demand, so a file may be larger than memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from trainer.data.batch import Indices
from trainer.data.formats.shard import Rows, Shard, sample_kind, split_tokens
from trainer.errors import ConfigError


def read(path: Path) -> Shard:
    """Opens the samples in `path`.

    Raises:
        ConfigError: The package safetensors is missing.
    """
    try:
        from safetensors import safe_open
    except ImportError as error:
        raise ConfigError(f"{path} needs the package safetensors: install it, or write .npz files") from error
    return _Mapped(path, safe_open(path, framework="numpy"))


class _Mapped:
    def __init__(self, path: Path, opened: Any) -> None:
        self._opened = opened
        self._kind = sample_kind(path, set(opened.keys()))
        shape = opened.get_slice("tokens" if self._kind == "tokens" else "targets").get_shape()
        self._length = int(shape[0])

    def __len__(self) -> int:
        return self._length

    def rows(self, indices: Indices) -> Rows:
        if self._kind == "tokens":
            return split_tokens(self._taken("tokens", indices))
        return self._taken("inputs", indices), self._taken("targets", indices)

    def _taken(self, name: str, indices: Indices) -> Any:
        part = self._opened.get_slice(name)
        return np.stack([part[int(index) : int(index) + 1][0] for index in indices]) if len(indices) else part[0:0]
