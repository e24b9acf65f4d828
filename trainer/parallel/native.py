"""The common part of PyTorch's own strategies: AdamW, loss scale, clipping, state."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from ..config import TrainerConfig
from ..models.model import Model
from ..runtime.distributed import World
from .adamw import adamw, undecayed_parameters
from .compile import compile_blocks
from .gradients import clip_factor, scale_gradients, total_norm
from .loss_scale import LossScale
from .strategy import DataShard, Strategy

COMPUTE_DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}


class NativeStrategy(Strategy):
    """A strategy of PyTorch. Subclasses wrap the model and control when gradients are exchanged."""

    def __init__(self, model: Model, config: TrainerConfig, world: World) -> None:
        self.model = model
        self.config = config
        self.world = world
        self.data_shard = DataShard(world.rank, world.size)
        self.scale = LossScale(enabled=config.precision == "fp16")
        if config.compile:
            compile_blocks(model, world.device)
        undecayed = undecayed_parameters(model, config)
        self._module = self.wrap()
        self._parameters = dict(model.named_parameters())
        self._optimizer = adamw(self._parameters, undecayed, config)

    @abstractmethod
    def wrap(self) -> nn.Module:
        """Distributes `model` over the ranks and returns the module to call. May set `data_shard` and `groups`."""

    @abstractmethod
    def set_gradient_sync(self, enabled: bool) -> None:
        """Sets whether the next backward exchanges gradients between ranks or only accumulates them on this rank."""

    def autocast(self) -> AbstractContextManager[object]:
        """Returns the context in which the model is called."""
        compute = COMPUTE_DTYPES.get(self.config.precision)
        return torch.autocast(self.world.device.type, compute) if compute else nullcontext()

    def sync_replicated_gradients(self, gradients: list[Tensor]) -> None:
        """Makes gradients of replicated parameters identical on all ranks, in place."""

    def compute(self, inputs: Tensor) -> Tensor:
        """Returns the logits of the model."""
        with self.autocast():
            logits: Tensor = self._module(inputs)
        return logits

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Scales the loss by the world size, because ranks average gradients, and by the global number of samples.

        A rank's own mean would weigh samples by rank if a batch is short.
        """
        self.set_gradient_sync(last)
        torch.autograd.backward(loss_sum * (self.scale.value * self.data_shard.size / global_size))

    def update(self, learning_rate: float) -> float:
        """Skips a step whose gradients are not finite."""
        gradients = [parameter.grad for parameter in self._parameters.values() if parameter.grad is not None]
        self.sync_replicated_gradients(gradients)
        norm = total_norm(gradients) / self.scale.value
        self.before_change()
        factor = clip_factor(norm, self.config.clip_norm) / self.scale.value
        if self.scale.update(norm):
            scale_gradients(gradients, factor)
            for group in self._optimizer.param_groups:
                group["lr"] = learning_rate
            self._optimizer.step()
        self._optimizer.zero_grad()
        return norm

    def state_dict(self) -> dict[str, Tensor]:
        """Omits the optimizer's settings, because they belong to the configuration."""
        state = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for name, parameter in self._parameters.items():
            known = self._optimizer.state[parameter]
            state |= {f"optimizer.{name}.{what}": tensor for what, tensor in known.items()}
        return state

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Copies `state` into the tensors in use; a no-op for tensors that were read in place."""
        with torch.no_grad():
            for name, tensor in self.state_dict().items():
                tensor.copy_(state[name])
