"""The model on samples that it was not trained on."""

from collections.abc import Callable

import numpy as np
import torch

from trainer.data.batch import Samples
from trainer.metrics.accuracy import count_correct
from trainer.parallel import Strategy
from trainer.runtime.boundary import Boundary, Report


@torch.no_grad()
def accuracy(
    strategy: Strategy, samples: Samples, batch_size: int, boundary: Boundary, is_told_to_stop: Callable[[], bool]
) -> float | None:
    """The share of `samples` that are answered right, over all ranks; None when a rank was told to stop.

    `batch_size` is of all ranks together; `is_told_to_stop` is asked on each of them. Collective.
    """
    share, device = strategy.share, next(strategy.model.parameters()).device
    mine = np.arange(len(samples))[share.rank :: share.size]
    size = -(-batch_size // share.size)
    correct = 0.0
    strategy.model.eval()
    # As many chunks on all ranks, since a sharded model is gathered for each, even for one without samples.
    for start in range(0, -(-len(samples) // share.size), size):
        batch = samples.take(mine[start : start + size]).to(device)
        logits = strategy.forward(batch.inputs)
        own = count_correct(logits, batch.targets) if share.leads else 0.0
        reports = boundary.exchange(Report(correct=own, stop=is_told_to_stop()))
        if any(report.stop for report in reports):
            strategy.model.train()
            return None
        correct += sum(report.correct for report in reports)
    strategy.model.train()
    return correct / len(samples)
