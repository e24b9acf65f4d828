"""What the loop asks of a strategy, whichever it is."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.tensor import DTensor

from trainer.models.model import Model
from trainer.parallel.scaling import LossScale
from trainer.runtime.distributed import World


@dataclass(frozen=True, slots=True)
class Share:
    """Which part of each batch a rank takes: part `rank` of `size`.

    Ranks that compute one sample together have the same share; one of them `leads` and is counted.
    """

    rank: int
    size: int
    leads: bool = True


class Strategy(ABC):
    """A model that is spread over the ranks, and the optimizer that changes it.

    All methods are collectives, unless they say otherwise. Gradients of a step are accumulated over calls of
    `backward`; `last` marks the one after which ranks need each other's. `groups` are the process groups it has made.
    `waited_seconds` is how long the last backward went on when this rank's own gradients were done, 0 where that is not
    known.
    """

    model: Model
    share: Share
    scale: LossScale
    groups: Sequence[dist.ProcessGroup] = ()
    waited_seconds: float = 0.0

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits in fp32 of this rank's `inputs`, which may be none: all ranks call it equally often."""
        if len(inputs):
            return self.compute(inputs).float()
        # Not every kernel is made for no samples, and DTensors choose a layout for them that others would not.
        return self.compute(inputs.new_zeros(1, *inputs.shape[1:])).float()[:0]

    @abstractmethod
    def compute(self, inputs: Tensor) -> Tensor:
        """Logits of at least one sample, in the precision of the computation."""

    @abstractmethod
    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Adds the gradients of the mean loss of `global_size` samples; those of this rank add up to `loss_sum`."""

    @abstractmethod
    def update(self, learning_rate: float) -> float:
        """Clips the gradients, takes the optimizer's step and forgets them.

        Returns their norm before, over all ranks: nan where nothing asks for it, inf where they have overflown in fp16,
        in which case all ranks leave the step out.
        """

    @abstractmethod
    def state(self) -> dict[str, Tensor]:
        """Parameters as `model.<name>`, and what the optimizer knows of each as `optimizer.<name>.<what>`.

        Names, shapes and types are the same with every strategy and number of ranks; a tensor may be sharded. They may
        be those in use, not copies.
        """

    @abstractmethod
    def load(self, state: Mapping[str, Tensor]) -> None:
        """Takes over a state that has the names and the layout of `state()`."""

    def extras(self) -> dict[str, Any]:
        """What else must be remembered, as JSON, the same on all ranks. Not a collective."""
        return {"loss_scale": self.scale.state()}

    def load_extras(self, extras: Mapping[str, Any]) -> None:
        """Takes over what `extras` gave. Not a collective."""
        if "loss_scale" in extras:
            self.scale.load(extras["loss_scale"])


def birthplace(world: World) -> torch.device:
    """Where a rank builds the model: rank 0 draws the weights, and elsewhere they take no memory until they are given.

    It is a context; all strategies begin with `place` or `give_weights`.
    """
    return torch.device("cpu" if world.rank == 0 else "meta")


def place(part: nn.Module, device: torch.device) -> None:
    """Moves a part of a model to the device: what took no memory has any content, until rank 0's weights are given."""
    for module in part.modules():
        own = (*module.parameters(recurse=False), *module.buffers(recurse=False))
        if any(tensor.is_meta for tensor in own):
            module.to_empty(device=device, recurse=False)
    part.to(device)


def give_weights(part: nn.Module, device: torch.device) -> None:
    """Moves a part of a model to the device, with rank 0's weights in every rank. A collective.

    Shares of different models would make a model that nobody had. What is shared out already stays as it is.
    """
    place(part, device)
    for tensor in part.state_dict().values():
        if not isinstance(tensor, DTensor):
            dist.broadcast(tensor, src=0)
