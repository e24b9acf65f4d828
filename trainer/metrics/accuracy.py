"""Loss and accuracy of a model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from trainer.data.batch import Samples
from trainer.models import Model
from trainer.parallel import Strategy
from trainer.runtime.step_sync import StepReport, StepSync


def sample_losses(logits: Tensor, targets: Tensor) -> Tensor:
    """Returns the cross entropy of each sample (n,); for tokens, the mean over the sample's tokens.

    `logits` are (n, classes) or (n, t, classes), `targets` (n,) or (n, t).
    """
    if not len(targets):
        return logits.flatten(1).sum(dim=1)  # cross_entropy of an empty batch has no backward through DTensors
    each = cross_entropy(logits.flatten(0, -2), targets.flatten(), reduction="none")
    return each.view(len(targets), -1).mean(dim=1)


def count_correct(logits: Tensor, targets: Tensor) -> float:
    """Returns the number of samples answered correctly; for tokens, the sum of each sample's share of them."""
    right = (logits.argmax(dim=-1) == targets).double()
    return float(right.flatten(1).mean(dim=1).sum() if right.dim() > 1 else right.sum())


@torch.inference_mode()
def accuracy(model: Model, samples: Samples, batch_size: int) -> float:
    """Returns the share of `samples` that `model`, unsharded in this process, answers correctly."""
    model.eval()
    correct = 0.0
    for start in range(0, len(samples), batch_size):
        batch = samples.take(np.arange(start, min(start + batch_size, len(samples))))
        correct += count_correct(model(batch.inputs), batch.targets)
    return correct / len(samples)


@torch.no_grad()
def distributed_accuracy(
    strategy: Strategy,
    samples: Samples,
    batch_size: int,
    step_sync: StepSync,
    is_told_to_stop: Callable[[], bool],
    on_batch: Callable[[], None],
) -> float | None:
    """Returns the share of `samples` answered correctly over all ranks; None after SIGTERM on any rank. Collective.

    Args:
        strategy: The parallelized model.
        samples: The same samples on every rank.
        batch_size: The global batch size.
        step_sync: Exchanges the results of each batch.
        is_told_to_stop: Returns true if this rank has received SIGTERM.
        on_batch: Called after each batch.
    """
    share, device = strategy.data_shard, next(strategy.model.parameters()).device
    mine = np.arange(len(samples))[share.rank :: share.size]
    size = -(-batch_size // share.size)
    correct = 0.0
    strategy.model.eval()
    # Every rank runs the same number of batches, even empty ones, because each gathers a sharded model.
    for start in range(0, -(-len(samples) // share.size), size):
        batch = samples.take(mine[start : start + size]).to(device)
        logits = strategy.forward(batch.inputs)
        own = count_correct(logits, batch.targets) if share.is_leader else 0.0
        reports = step_sync.exchange(StepReport(correct=own, stop=is_told_to_stop()))
        on_batch()
        if any(report.stop for report in reports):
            strategy.model.train()
            return None
        correct += sum(report.correct for report in reports)
    strategy.model.train()
    return correct / len(samples)
