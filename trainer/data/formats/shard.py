"""One file of samples."""

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
    """Samples that are known by their row."""

    def __len__(self) -> int: ...

    def rows(self, indices: Indices) -> Rows:
        """Inputs and targets of the rows, in that order."""
        ...


@dataclass(frozen=True, slots=True)
class InMemory:
    """A file that was read whole."""

    inputs: NDArray[Any]
    targets: NDArray[Any]

    def __len__(self) -> int:
        return len(self.targets)

    def rows(self, indices: Indices) -> Rows:
        """Copies of the rows."""
        return self.inputs[indices], self.targets[indices]


def in_memory(path: Path, arrays: Mapping[str, NDArray[Any]]) -> InMemory:
    """A shard of what a file holds: `inputs` and `targets`, or `tokens` (n, context_length + 1).

    Raises:
        ConfigError: It holds neither, or not as many inputs as targets.
    """
    kind = kind_of(path, arrays.keys())
    if kind == "tokens":
        return InMemory(*split(arrays["tokens"]))
    inputs, targets = arrays["inputs"], arrays["targets"]
    if len(inputs) != len(targets):
        raise ConfigError(
            f"{path} has {len(inputs)} inputs and {len(targets)} targets: write one target for each input"
        )
    return InMemory(inputs, targets)


def kind_of(path: Path, names: "set[str] | Any") -> str:
    """`images` or `tokens`, by the names of what is in the file.

    Raises:
        ConfigError: It is neither.
    """
    if {"inputs", "targets"} <= set(names):
        return "images"
    if "tokens" in names:
        return "tokens"
    raise ConfigError(
        f"{path} holds {', '.join(sorted(names)) or 'nothing'}: write `inputs` and `targets`, or rows of `tokens`"
    )


def split(tokens: NDArray[Any]) -> Rows:
    """Rows of tokens (n, t + 1) as inputs and targets, both (n, t)."""
    return tokens[:, :-1].astype(np.int64), tokens[:, 1:].astype(np.int64)
