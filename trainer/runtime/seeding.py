"""The random numbers of one step. Training draws from torch's generators only; the data order has its own seed."""

from __future__ import annotations

import numpy as np
import torch


def seed_step(seed: int, step: int, part: int) -> None:
    """Seeds torch's generators, that of the current GPU included, for one step of one rank.

    A step draws the same numbers however often the run was interrupted before it, so checkpoints need no random state.

    Args:
        seed: The seed of the run.
        step: The number of the step.
        part: The part of the batch that this rank computes, so that dropout masks differ between samples. Ranks that
            compute one sample together have the same part.
    """
    number = int(np.random.SeedSequence((seed, step, part)).generate_state(1, np.uint64)[0])
    # torch.manual_seed also notes the stack for a GPU that is not in use yet, which takes ten times as long.
    torch.default_generator.manual_seed(number)
    if torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        torch.cuda.manual_seed(number)
