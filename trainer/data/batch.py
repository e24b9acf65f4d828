"""What all data have in common."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Batch:
    """Samples and what a model should say of them.

    Images: `inputs` (n, height, width) float32 in [0, 1], `targets` (n,) int64 below the number of classes. Tokens:
    both (n, context_length) int64 below the size of the vocabulary, `targets` being `inputs` one token later.
    """

    inputs: Tensor
    targets: Tensor

    def __len__(self) -> int:
        return len(self.targets)

    def __getitem__(self, chosen: slice) -> "Batch":
        return Batch(self.inputs[chosen], self.targets[chosen])

    def to(self, device: torch.device) -> "Batch":
        """The samples on `device`."""
        return Batch(self.inputs.to(device, non_blocking=True), self.targets.to(device, non_blocking=True))


class Samples(Protocol):
    """Samples that are known by their index."""

    def __len__(self) -> int: ...

    def take(self, indices: Indices) -> Batch:
        """The samples at `indices`, in that order."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Data:
    """Samples to train on and others to test with.

    `shape` is that of one sample's input, `classes` how many different targets there are. `fingerprint` tells data from
    others, so that a run is not resumed on data that it was not trained on.
    """

    training: Samples
    test: Samples
    shape: tuple[int, ...]
    classes: int
    fingerprint: str
