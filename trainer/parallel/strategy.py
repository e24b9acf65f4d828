"""The interface of parallelism strategies."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from ..models.model import Model
from ..runtime.distributed import World
from .loss_scale import LossScale


@dataclass(frozen=True, slots=True)
class DataShard:
    """The part of each batch that a rank takes: part `rank` of `size`.

    Ranks that compute samples together have the same part; one of them is the leader, whose loss is counted.
    """

    rank: int
    size: int
    is_leader: bool = True


class Strategy(ABC):
    """A model distributed over the ranks, and its optimizer.

    Methods are collectives unless stated otherwise. The gradients of a step are accumulated over calls of `backward`;
    `last` marks the call after which ranks exchange them.

    Attributes:
        model: The model.
        data_shard: This rank's part of each batch.
        scale: The loss scale.
        groups: The process groups made by the strategy.
        is_replica: True if this rank holds the whole state, and `state_dict` is no collective.
        state_is_copied: True if `state_dict` returns copies in host memory, which nothing else changes.
        before_change: Called in `update` when the gradients of all ranks are here, before the weights change.
        waited_seconds: Time that the last backward waited for other ranks; 0 if unknown.
    """

    model: Model
    data_shard: DataShard
    scale: LossScale
    groups: Sequence[dist.ProcessGroup] = ()
    is_replica: bool = False
    state_is_copied: bool = False
    before_change: Callable[[], None] = staticmethod(lambda: None)
    waited_seconds: float = 0.0

    def forward(self, inputs: Tensor) -> Tensor:
        """Returns the fp32 logits of `inputs`, which may be empty: all ranks must call it equally often."""
        if len(inputs):
            return self.compute(inputs).float()
        # Some kernels do not support empty batches, and DTensors would get another layout than on other ranks.
        return self.compute(inputs.new_zeros(1, *inputs.shape[1:])).float()[:0]

    @abstractmethod
    def compute(self, inputs: Tensor) -> Tensor:
        """Returns the logits of at least one sample, in the compute precision."""

    @abstractmethod
    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Adds the gradients of the mean loss over `global_size` samples, of which this rank contributes `loss_sum`."""

    @abstractmethod
    def update(self, learning_rate: float) -> float:
        """Clips the gradients, takes the optimizer step and resets the gradients.

        Returns:
            The gradient norm before clipping, over all ranks. It is inf if the gradients are not finite; then all ranks
            skip the step.
        """

    @abstractmethod
    def state_dict(self) -> dict[str, Tensor]:
        """Returns parameters as `model.<name>` and their optimizer state as `optimizer.<name>.<key>`.

        Names, shapes and types do not depend on the strategy or the world size. Tensors may be sharded, and may be the
        ones in use rather than copies.
        """

    @abstractmethod
    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Loads a state with the names and the sharding of `state_dict()`."""

    def extras(self) -> dict[str, Any]:
        """Returns further state as JSON values, identical on all ranks. Not a collective."""
        return {"loss_scale": self.scale.state_dict()}

    def load_extras(self, extras: Mapping[str, Any]) -> None:
        """Loads what `extras` returned. Not a collective."""
        if "loss_scale" in extras:
            self.scale.load_state_dict(extras["loss_scale"])


def init_device(world: World) -> torch.device:
    """Returns the device on which a rank builds the model: CPU on rank 0, which draws the weights; meta elsewhere.

    Use it as a context. The weights are broadcast later; all strategies start with `materialize` or
    `broadcast_weights`.
    """
    return torch.device("cpu" if world.rank == 0 else "meta")


def materialize(part: nn.Module, device: torch.device) -> None:
    """Moves a part of a model to the device. Meta tensors become uninitialized memory until the broadcast."""
    for module in part.modules():
        own = (*module.parameters(recurse=False), *module.buffers(recurse=False))
        if any(tensor.is_meta for tensor in own):
            module.to_empty(device=device, recurse=False)
    part.to(device)


def broadcast_weights(part: nn.Module, device: torch.device) -> None:
    """Moves a part of a model to the device and broadcasts rank 0's weights. Collective.

    All shards must come from rank 0's weights. Tensors that are already sharded are not changed.
    """
    materialize(part, device)
    for tensor in part.state_dict().values():
        if not isinstance(tensor, DTensor):
            dist.broadcast(tensor, src=0)
