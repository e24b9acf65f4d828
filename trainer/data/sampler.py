"""The order of the samples, and the split of each batch over the ranks.

The order is global: it depends on the seed and the epoch, never on the world size. Each step takes the next
`batch_size` indices, split over the ranks, so any world size takes the same steps on the same samples. The position of
a run in its data is one number, `position`: the samples trained on so far. A run that resumes from a position with
another world size or batch size neither repeats nor skips a sample.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .batch import Indices

_MOST_IN_4_BYTES = 2**32


@dataclass(frozen=True, slots=True)
class Step:
    """One rank's part of one global batch.

    Attributes:
        indices: The sample indices of this rank.
        global_size: Samples of all ranks.
        max_local_size: Samples of the rank with the most.
        position: The position of the run after the step.
    """

    indices: Indices
    global_size: int
    max_local_size: int
    position: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GlobalSampler:
    """Yields each of `num_samples` indices exactly once per epoch, over all ranks.

    Each batch is split as evenly as possible. The last batch of an epoch may be short and may leave ranks without
    samples. All ranks take the same number of steps.
    """

    num_samples: int
    batch_size: int
    seed: int
    rank: int
    world_size: int

    def epoch_of(self, position: int) -> int:
        """Returns the epoch, counted from 1, of the sample after `position`."""
        return position // self.num_samples + 1

    def rest_of_epoch(self, position: int) -> Iterator[Step]:
        """Yields the steps from `position` to the end of its epoch."""
        epoch, done = self.epoch_of(position), position % self.num_samples
        order = _shuffled(self.num_samples, self.seed, epoch)
        for start in range(done, self.num_samples, self.batch_size):
            batch = order[start : start + self.batch_size]
            yield Step(
                indices=batch[self.rank :: self.world_size].astype(np.int64),
                global_size=len(batch),
                max_local_size=-(-len(batch) // self.world_size),
                position=position - done + start + len(batch),
            )


def _shuffled(size: int, seed: int, epoch: int) -> NDArray[Any]:
    """Returns the permutation that `Generator.permutation` draws, in 4 bytes per sample instead of 8."""
    order: NDArray[Any] = np.arange(size, dtype=np.uint32 if size <= _MOST_IN_4_BYTES else np.uint64)
    np.random.default_rng((seed, epoch)).shuffle(order)
    return order
