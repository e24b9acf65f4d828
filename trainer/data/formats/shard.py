"""One file of samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from trainer.data.batch import Indices
from trainer.errors import ConfigError

Rows = tuple[NDArray[Any], NDArray[Any]]


class Shard(Protocol):
    """Samples by row."""

    def __len__(self) -> int: ...

    def rows(self, indices: Indices) -> Rows:
        """Returns inputs and targets of the rows, in that order."""
        ...


@dataclass(frozen=True, slots=True)
class InMemory:
    """A file in memory."""

    inputs: NDArray[Any]
    targets: NDArray[Any]

    def __len__(self) -> int:
        return len(self.targets)

    def rows(self, indices: Indices) -> Rows:
        """Returns copies of the rows."""
        return self.inputs[indices], self.targets[indices]


def in_memory(path: Path, arrays: Mapping[str, NDArray[Any]]) -> InMemory:
    """Returns a shard from the arrays of a file: `inputs` and `targets`, or `tokens` (n, context_length + 1).

    Raises:
        ConfigError: The arrays are missing, or inputs and targets differ in number.
    """
    kind = sample_kind(path, arrays.keys())
    if kind == "tokens":
        return InMemory(*split_tokens(arrays["tokens"]))
    inputs, targets = arrays["inputs"], arrays["targets"]
    if len(inputs) != len(targets):
        raise ConfigError(
            f"{path} has {len(inputs)} inputs and {len(targets)} targets: write one target for each input"
        )
    return InMemory(inputs, targets)


def sample_kind(path: Path, names: set[str] | Any) -> str:
    """Returns `images` or `tokens`, by the names of the arrays in a file.

    Raises:
        ConfigError: The names match neither.
    """
    if {"inputs", "targets"} <= set(names):
        return "images"
    if "tokens" in names:
        return "tokens"
    raise ConfigError(
        f"{path} holds {', '.join(sorted(names)) or 'nothing'}: write `inputs` and `targets`, or rows of `tokens`"
    )


def split_tokens(tokens: NDArray[Any]) -> Rows:
    """Splits rows of tokens (n, t + 1) into inputs and targets, both (n, t)."""
    return tokens[:, :-1].astype(np.int64), tokens[:, 1:].astype(np.int64)
