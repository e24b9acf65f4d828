"""Loss and accuracy of a model, and its evaluation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from ..config import TrainerConfig
from ..data.batch import Batch, Data, Indices, Samples
from ..errors import ConfigError, DataError
from ..models import Model
from ..parallel import Strategy
from ..runtime.log import log
from ..runtime.step_sync import StepReport, StepSync, total_loss
from .base import Score


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


@dataclass(frozen=True, kw_only=True, slots=True)
class EvaluationData:
    """The samples of an evaluation.

    Attributes:
        samples: All test samples.
        batch_size: The global batch size.
        batches: The number of batches to evaluate; 0 evaluates all samples.
    """

    samples: Samples
    batch_size: int
    batches: int

    def __len__(self) -> int:
        """Returns the number of samples that are evaluated."""
        return min(len(self.samples), self.batches * self.batch_size or len(self.samples))


def evaluation_data(config: TrainerConfig, data: Data) -> EvaluationData | None:
    """Returns the samples of the evaluations; None without test data.

    Raises:
        ConfigError: Evaluations are asked for, and there are no test data.
    """
    if data.test is not None:
        return EvaluationData(samples=data.test, batch_size=config.batch_size, batches=config.eval_batches)
    if config.eval_steps:
        raise ConfigError(
            f"--eval-steps {config.eval_steps} needs test data, and {config.data_dir} has no folder test: write "
            "samples there, or leave --eval-steps out"
        )
    log(f"no evaluation: {config.data_dir} has no folder test")
    return None


@torch.inference_mode()
def score(model: Model, test: EvaluationData) -> Score:
    """Returns the score of `model`, unsharded in this process."""
    model.eval()
    loss = correct = 0.0
    for start in range(0, len(test), test.batch_size):
        batch = test.samples.take(np.arange(start, min(start + test.batch_size, len(test))))
        logits = model(batch.inputs)
        loss += float(sample_losses(logits, batch.targets).double().sum())
        correct += count_correct(logits, batch.targets)
    return Score(loss=loss / len(test), accuracy=correct / len(test))


@torch.no_grad()
def distributed_score(
    strategy: Strategy,
    test: EvaluationData,
    step_sync: StepSync,
    is_told_to_stop: Callable[[], bool],
    on_batch: Callable[[], None],
) -> Score | None:
    """Returns the score over all ranks; None after SIGTERM on any rank. Collective.

    Args:
        strategy: The parallelized model.
        test: The same samples on every rank.
        step_sync: Exchanges the results of each batch.
        is_told_to_stop: Returns true if this rank has received SIGTERM.
        on_batch: Called after each batch.

    Raises:
        DataError: A rank cannot read its samples. Every rank raises it.
    """
    share, device = strategy.data_shard, next(strategy.model.parameters()).device
    mine = np.arange(len(test))[share.rank :: share.size]
    size = -(-test.batch_size // share.size)
    loss = correct = 0.0
    strategy.model.eval()
    # Every rank runs the same number of batches, even empty ones, because each gathers a sharded model.
    for start in range(0, -(-len(test) // share.size), size):
        batch, error = _read(test.samples, mine[start : start + size])
        batch = batch.to(device)
        logits = strategy.forward(batch.inputs)
        own = StepReport(
            loss_sum=float(sample_losses(logits, batch.targets).double().sum()) if share.is_leader else 0.0,
            correct=count_correct(logits, batch.targets) if share.is_leader else 0.0,
            stop=is_told_to_stop(),
            failed=error is not None,
        )
        reports = step_sync.exchange(own)
        step_sync.agree(reports, error)
        on_batch()
        if any(report.stop for report in reports):
            strategy.model.train()
            return None
        loss += total_loss(reports)
        correct += sum(report.correct for report in reports)
    strategy.model.train()
    return Score(loss=loss / len(test), accuracy=correct / len(test))


def _read(samples: Samples, indices: Indices) -> tuple[Batch, DataError | None]:
    try:
        return samples.take(indices), None
    except DataError as error:
        return samples.take(indices[:0]), error
