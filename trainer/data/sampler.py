"""Which sample is trained on when, and by which rank.

The order is global: it depends on the seed and the epoch, never on the world size. Each step takes the next
`batch_size` indices of it and the ranks share those out, so any number of ranks takes the same steps on the same
samples, and a position in the data is one number.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Step:
    """One rank's part of one global batch: `indices` of this rank, `global_size` of all ranks together."""

    indices: NDArray[np.int64]
    global_size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GlobalSampler:
    """Deals out `num_samples` indices, each exactly once per epoch.

    Full batches split equally, so `batch_size` must be a multiple of `world_size`. The last batch may be short; it
    splits as equally as whole samples allow, and a rank may get none of it. All ranks take the same number of steps.
    """

    num_samples: int
    batch_size: int
    seed: int
    rank: int
    world_size: int

    def epoch(self, number: int) -> Iterator[Step]:
        """The steps of epoch `number`."""
        order = np.random.default_rng((self.seed, number)).permutation(self.num_samples)
        for start in range(0, self.num_samples, self.batch_size):
            batch = order[start : start + self.batch_size]
            yield Step(batch[self.rank :: self.world_size], len(batch))
