"""DistributedDataParallel: every rank holds the whole model, and gradients are averaged."""

import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed import GradBucket  # type: ignore[attr-defined]  # documented, but missing in __all__
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from trainer.parallel.native import NativeStrategy
from trainer.parallel.strategy import place


class DDP(NativeStrategy):
    """Rank 0's weights go to every rank at the start."""

    def wrap(self) -> nn.Module:
        """The model, replicated."""
        place(self.model, self.world.device)
        self._gpus: list[int | str | torch.device] | None = None
        if self.world.device.type == "cuda":
            self._gpus = [self.world.device]
        self._exchanging = True
        replica = DistributedDataParallel(self.model, device_ids=self._gpus, gradient_as_bucket_view=True)
        replica.register_comm_hook(dist.group.WORLD, self._exchange)
        return replica

    def exchange(self, wanted: bool) -> None:
        """Not by `no_sync`, which has to be known before the forward."""
        self._exchanging = wanted

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """What it waits is known on a CPU alone: a GPU has not yet computed what it was told to."""
        super().backward(loss_sum, global_size, last=last)
        if last and self._gpus is None:
            self.waited_seconds = time.perf_counter() - self._computed_at

    def _exchange(self, everyone: dist.ProcessGroup, bucket: GradBucket) -> Future[Tensor]:
        # The last bucket is full when all gradients are computed.
        self._computed_at = time.perf_counter()
        if self._exchanging:
            return allreduce_hook(everyone, bucket)
        kept: Future[Tensor] = Future(devices=self._gpus)
        kept.set_result(bucket.buffer())
        return kept
