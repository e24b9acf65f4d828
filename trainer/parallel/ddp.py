"""DistributedDataParallel: every rank holds the full model, and gradients are averaged."""

from __future__ import annotations

import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed import GradBucket  # type: ignore[attr-defined]  # documented, but missing in __all__
from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
from torch.futures import Future
from torch.nn.parallel import DistributedDataParallel

from .native import NativeStrategy
from .strategy import materialize


class DDP(NativeStrategy):
    """DDP broadcasts rank 0's weights itself when it wraps the model."""

    is_replica = True

    def wrap(self) -> nn.Module:
        """Replicates the model."""
        materialize(self.model, self.world.device)
        self._gpus: list[int | str | torch.device] | None = None
        if self.world.device.type == "cuda":
            self._gpus = [self.world.device]
        self._exchanging = True
        replica = DistributedDataParallel(self.model, device_ids=self._gpus, gradient_as_bucket_view=True)
        # A lambda, because DDP requires types as annotations of its hook, and postponed annotations are strings.
        replica.register_comm_hook(dist.group.WORLD, lambda group, bucket: self._exchange(group, bucket))
        return replica

    def set_gradient_sync(self, enabled: bool) -> None:
        """Sets a flag for the hook: `no_sync` would have to be known before the forward."""
        self._exchanging = enabled

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Measures the wait time on CPUs only: on a GPU, backward only enqueues work."""
        super().backward(loss_sum, global_size, last=last)
        if last and self._gpus is None:
            self.waited_seconds = time.perf_counter() - self._computed_at

    def _exchange(self, everyone: dist.ProcessGroup, bucket: GradBucket) -> Future[Tensor]:
        # Called for the last bucket when all gradients are computed.
        self._computed_at = time.perf_counter()
        if self._exchanging:
            return allreduce_hook(everyone, bucket)
        kept: Future[Tensor] = Future(devices=self._gpus)
        kept.set_result(bucket.buffer())
        return kept
