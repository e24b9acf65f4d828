"""One optimizer step on one rank."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from .config import OptimizationConfig
from .data.batch import Batch
from .data.sampler import Step
from .metrics.accuracy import sample_losses
from .parallel import Strategy
from .runtime.seeding import seed_step
from .runtime.stopwatch import Stopwatch
from .schedule import learning_rate_at


@dataclass(frozen=True, kw_only=True, slots=True)
class Stepper:
    """Takes optimizer steps and times them as forward, backward, checkpoint and update.

    Attributes:
        config: Batch sizes and the schedule.
        strategy: The parallelized model and its optimizer.
        device: The device of the model.
        stopwatch: Collects the time of each part.
        on_part: Called after each micro-batch.
        before_update: Called when the gradients are complete and the weights are still unchanged.
        steps: Steps of the whole run.
    """

    config: OptimizationConfig
    strategy: Strategy
    device: torch.device
    stopwatch: Stopwatch
    on_part: Callable[[], None]
    before_update: Callable[[], None]
    steps: int

    def learning_rate(self, number: int) -> float:
        """Returns the learning rate of step `number`."""
        return learning_rate_at(self.config, number, self.steps)

    def train_step(self, number: int, step: Step, batch: Batch) -> tuple[float, float]:
        """Takes step `number` with this rank's part of the batch. Collective.

        Returns:
            The summed loss of this rank's samples, and the gradient norm over all ranks.
        """
        size = self.config.micro_batch_size or step.max_local_size
        seed_step(self.config.seed, number, self.strategy.data_shard.rank)
        loss_sum = torch.zeros((), dtype=torch.float64, device=self.device)
        # Every backward is a collective: a rank with fewer samples continues with empty micro-batches.
        for start in range(0, step.max_local_size, size):
            part = batch[start : start + size].to(self.device)
            with self.stopwatch.timing("forward", computing=True):
                loss = sample_losses(self.strategy.forward(part.inputs), part.targets).sum()
            with self.stopwatch.timing("backward", computing=True):
                self.strategy.backward(loss, step.global_size, last=start + size >= step.max_local_size)
            loss_sum += loss.detach()
            self.on_part()
        with self.stopwatch.timing("checkpoint"):
            self.before_update()
        with self.stopwatch.timing("update", computing=True):
            norm = self.strategy.update(self.learning_rate(number))
        return float(loss_sum), norm
