"""A part of the samples: one file, or one row group of a file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import ConfigError, DataError
from ..batch import Indices

# Inputs and targets in the types of the file: tokens of 2 bytes become int64 only in a batch.
Rows = tuple[NDArray[Any], NDArray[Any]]
Kind = Literal["images", "tokens"]


class Shard(Protocol):
    """Samples by row. Shards are pickled for loader workers; those that read on demand are pickled without the data."""

    @property
    def name(self) -> str:
        """The file, for messages."""
        ...

    def __len__(self) -> int: ...

    def rows(self, indices: Indices) -> Rows:
        """Returns inputs and targets of the rows, in that order.

        Raises:
            DataError: The file has changed or cannot be read.
        """
        ...

    def first(self) -> Rows:
        """Returns the first row, without decoding more than that takes. The shard is not empty."""
        ...


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file that is read on demand, and its size when the run started.

    A mapped file that becomes shorter would end the process by SIGBUS. The size is also what identifies the file in the
    fingerprint of the data.
    """

    path: Path
    size: int

    @classmethod
    def at(cls, path: Path) -> KnownFile:
        """Returns the file at `path` as it is now."""
        return cls(path, path.stat().st_size)

    def check(self) -> None:
        """Raises DataError if the file is gone or has another size."""
        try:
            size = self.path.stat().st_size
        except OSError as error:
            raise DataError(
                f"cannot read {self.path}: {error.strerror}: start the run again once the file is readable"
            ) from error
        if size != self.size:
            raise DataError(
                f"{self.path} had {self.size} bytes when the run started and has {size} now: restore the file and "
                "start the run again, or start a run with another --checkpoint-dir on the new data"
            )


@dataclass(frozen=True, slots=True)
class InMemory:
    """Inputs and targets in memory."""

    name: str
    inputs: NDArray[Any]
    targets: NDArray[Any]

    def __len__(self) -> int:
        return len(self.targets)

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return self.inputs.nbytes + self.targets.nbytes

    def rows(self, indices: Indices) -> Rows:
        """Returns copies of the rows."""
        return self.inputs[indices], self.targets[indices]

    def first(self) -> Rows:
        """Returns the first row."""
        return self.inputs[:1], self.targets[:1]


@dataclass(frozen=True, slots=True)
class TokensInMemory:
    """Rows of tokens in memory, once for inputs and targets."""

    name: str
    tokens: NDArray[Any]

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def nbytes(self) -> int:
        """The size in memory."""
        return self.tokens.nbytes

    def rows(self, indices: Indices) -> Rows:
        """Returns copies of the rows."""
        return split_tokens(self.tokens[indices])

    def first(self) -> Rows:
        """Returns the first row."""
        return split_tokens(self.tokens[:1])


def in_memory(name: str, arrays: Mapping[str, NDArray[Any]]) -> InMemory | TokensInMemory:
    """Returns a shard from the arrays of a file: `inputs` and `targets`, or `tokens` (n, context_length + 1).

    Raises:
        ConfigError: The arrays are missing, or inputs and targets differ in number.
    """
    if sample_kind(name, arrays) == "tokens":
        check_rank_of_tokens(name, arrays["tokens"].ndim)
        return TokensInMemory(name, arrays["tokens"])
    inputs, targets = arrays["inputs"], arrays["targets"]
    check_equal_numbers(name, len(inputs), len(targets))
    return InMemory(name, inputs, targets)


def sample_kind(name: str, arrays: Iterable[str]) -> Kind:
    """Returns the kind of the samples in a file, by the names of its arrays.

    Raises:
        ConfigError: The names match neither.
    """
    names = set(arrays)
    if {"inputs", "targets"} <= names:
        return "images"
    if "tokens" in names:
        return "tokens"
    raise ConfigError(
        f"{name} holds {', '.join(sorted(names)) or 'nothing'}: write `inputs` and `targets`, or rows of `tokens`"
    )


def check_equal_numbers(name: str, inputs: int, targets: int) -> None:
    """Raises ConfigError unless there is one target for each input."""
    if inputs != targets:
        raise ConfigError(f"{name} has {inputs} inputs and {targets} targets: write one target for each input")


def check_rank_of_tokens(name: str, rank: int) -> None:
    """Raises ConfigError unless the tokens are rows."""
    if rank != 2:
        raise ConfigError(
            f"{name} has `tokens` in {rank} dimensions: write rows of context_length + 1 tokens, or one long array as "
            "a .bin file"
        )


def split_tokens(tokens: NDArray[Any]) -> Rows:
    """Splits rows of tokens (n, t + 1) into inputs and targets, both (n, t), without a copy."""
    return tokens[:, :-1], tokens[:, 1:]


def positions(ends: Indices, indices: Indices) -> list[tuple[int, NDArray[np.bool_], Indices]]:
    """Splits `indices` over consecutive parts that end at `ends`.

    Returns:
        For each part that has some: its number, which of the indices are in it, and their positions in it.
    """
    parts = np.searchsorted(ends, indices, side="right")
    starts = np.concatenate([np.zeros(1, np.int64), ends[:-1]])
    return [(int(number), parts == number, indices[parts == number] - starts[number]) for number in np.unique(parts)]
