"""The interface of all data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples and their targets.

    Images: `inputs` (n, height, width) float32 in [0, 1], `targets` (n,) int64 below the number of classes. Tokens:
    both (n, context_length) int64 below the vocabulary size; `targets` are `inputs` shifted by one token.
    """

    inputs: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, chosen: slice) -> Batch:
        return Batch(self.inputs[chosen], self.targets[chosen])

    def pin_memory(self) -> Batch:
        """Returns a copy in page-locked memory, from which a GPU can copy while it computes."""
        return Batch(self.inputs.pin_memory(), self.targets.pin_memory())

    def to(self, device: torch.device) -> Batch:
        """Returns the batch on `device`. A copy from page-locked memory does not wait for the device."""
        return Batch(self.inputs.to(device, non_blocking=True), self.targets.to(device, non_blocking=True))


class Samples(Protocol):
    """Samples by index."""

    def __len__(self) -> int: ...

    def take(self, indices: Indices) -> Batch:
        """Returns the samples at `indices`, in that order.

        Raises:
            DataError: They cannot be read, or do not suit the run.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Data:
    """Training and test samples.

    Attributes:
        training: Samples to train on.
        test: Samples to evaluate on; None without evaluation.
        shape: Shape of one sample's input.
        classes: Number of different targets.
        fingerprint: Identifies the data, so that a run is not resumed on other data.
    """

    training: Samples
    test: Samples | None
    shape: tuple[int, ...]
    classes: int
    fingerprint: str
