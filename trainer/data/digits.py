"""Handwritten digits that ship inside scikit-learn, so that no run needs to download anything."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.datasets import load_digits as load_sklearn_digits
from torch import Tensor

FEATURES = 64
CLASSES = 10
_BRIGHTEST = 16.0
_TEST_SHARE = 0.2


@dataclass(frozen=True, slots=True)
class Samples:
    """`inputs` is (n, 64) float32 in [0, 1], `labels` is (n,) int64 in [0, 10)."""

    inputs: Tensor
    labels: Tensor

    def __len__(self) -> int:
        return len(self.labels)

    def take(self, indices: NDArray[np.int64]) -> "Samples":
        """The samples at `indices`, in that order."""
        chosen = torch.from_numpy(indices)
        return Samples(self.inputs[chosen], self.labels[chosen])

    def to(self, device: torch.device) -> "Samples":
        """The samples on `device`."""
        return Samples(self.inputs.to(device), self.labels.to(device))


def load_digits(seed: int) -> tuple[Samples, Samples]:
    """Training and test samples: 1438 and 359 of the 1797, split by `seed` and by nothing else.

    Source: https://scikit-learn.org/stable/modules/generated/sklearn.datasets.load_digits.html
    """
    pixels, digits = load_sklearn_digits(return_X_y=True)
    samples = Samples(torch.from_numpy(pixels / _BRIGHTEST).float(), torch.from_numpy(digits).long())
    order = np.random.default_rng(seed).permutation(len(samples))
    test_size = int(len(samples) * _TEST_SHARE)
    return samples.take(order[test_size:]), samples.take(order[:test_size])
