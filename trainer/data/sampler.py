"""Which sample is trained on when, and by which rank.

The order is global: it depends on the seed and the epoch, never on the world size. Each step takes the next
`batch_size` indices of it and the ranks share those out, so any number of ranks takes the same steps on the same
samples. Where a run is in its data is one number, `position`: how many samples it has been trained on. A run that is
resumed from a position on other ranks, or with another batch size, neither repeats a sample nor skips one.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from trainer.data.batch import Indices


@dataclass(frozen=True, slots=True)
class Step:
    """One rank's part of one global batch.

    `indices` are this rank's, `global_size` counts those of all ranks, `largest` those of the rank that has most.
    `position` is that of the run once the step is done.
    """

    indices: Indices
    global_size: int
    largest: int
    position: int


@dataclass(frozen=True, kw_only=True, slots=True)
class GlobalSampler:
    """Deals out `num_samples` indices, each exactly once per epoch.

    A batch splits as equally as whole samples allow. The last one of an epoch may be short, and a rank may get none of
    it. All ranks take the same number of steps.
    """

    num_samples: int
    batch_size: int
    seed: int
    rank: int
    world_size: int

    def epoch_of(self, position: int) -> int:
        """The number of the epoch, the first being 1, to which the sample after `position` belongs."""
        return position // self.num_samples + 1

    def rest_of_epoch(self, position: int) -> Iterator[Step]:
        """The steps from `position` to the end of its epoch."""
        epoch, done = self.epoch_of(position), position % self.num_samples
        order = np.random.default_rng((self.seed, epoch)).permutation(self.num_samples)
        for start in range(done, self.num_samples, self.batch_size):
            batch = order[start : start + self.batch_size]
            yield Step(
                indices=batch[self.rank :: self.world_size],
                global_size=len(batch),
                largest=-(-len(batch) // self.world_size),
                position=position - done + start + len(batch),
            )
