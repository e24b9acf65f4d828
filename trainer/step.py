"""One step of the optimizer, on one rank."""

from collections.abc import Callable
from dataclasses import dataclass

import torch

from trainer.config import OptimizationConfig
from trainer.data.batch import Batch
from trainer.data.sampler import Step
from trainer.metrics.accuracy import sample_losses
from trainer.parallel import Strategy
from trainer.runtime.stopwatch import Stopwatch
from trainer.schedule import learning_rate


@dataclass(frozen=True, kw_only=True, slots=True)
class Stepper:
    """`before_update` is called when the gradients are there and nothing has changed yet. `steps` counts all.

    Parts of the time are counted by `stopwatch`, as forward, backward, checkpoint and update.
    """

    config: OptimizationConfig
    strategy: Strategy
    device: torch.device
    stopwatch: Stopwatch
    before_update: Callable[[], None]
    steps: int

    def rate(self, number: int) -> float:
        """The learning rate of step `number`."""
        return learning_rate(self.config, number, self.steps)

    def take(self, number: int, step: Step, batch: Batch) -> tuple[float, float]:
        """Step `number` with this rank's part of its batch. Collective.

        Returns the sum of the losses of its samples and the gradients' norm over all ranks.
        """
        size = self.config.micro_batch_size or step.largest
        loss_sum = torch.zeros((), dtype=torch.float64, device=self.device)
        # By the largest part: a rank with fewer samples goes on with none, since each backward is of all ranks.
        for start in range(0, step.largest, size):
            part = batch[start : start + size].to(self.device)
            with self.stopwatch.timing("forward", computing=True):
                loss = sample_losses(self.strategy.forward(part.inputs), part.targets).sum()
            with self.stopwatch.timing("backward", computing=True):
                self.strategy.backward(loss, step.global_size, last=start + size >= step.largest)
            loss_sum += loss.detach()
        with self.stopwatch.timing("checkpoint"):
            self.before_update()
        with self.stopwatch.timing("update", computing=True):
            norm = self.strategy.update(self.rate(number))
        return float(loss_sum), norm
