"""What the strategies that PyTorch brings have in common: AdamW, the scale of the loss, clipping, state."""

from abc import abstractmethod
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

from trainer.config import TrainerConfig
from trainer.models.model import Model
from trainer.parallel.adamw import adamw
from trainer.parallel.clipping import factor_within, multiply, norm_of
from trainer.parallel.compiling import compile_blocks
from trainer.parallel.scaling import LossScale
from trainer.parallel.strategy import Share, Strategy
from trainer.runtime.distributed import World

COMPUTE = {"bf16": torch.bfloat16, "fp16": torch.float16}


class NativeStrategy(Strategy):
    """A subclass wraps the model and says when gradients are exchanged."""

    def __init__(self, model: Model, config: TrainerConfig, world: World) -> None:
        self.model = model
        self.config = config
        self.world = world
        self.share = Share(world.rank, world.size)
        self.scale = LossScale(wanted=config.precision == "fp16")
        if config.compile:
            compile_blocks(model, world.device)
        self._module = self.wrap()
        self._parameters = dict(model.named_parameters())
        self._optimizer = adamw(self._parameters.values(), config.learning_rate, config.weight_decay)

    @abstractmethod
    def wrap(self) -> nn.Module:
        """Spreads `model` over the ranks and returns what is called in its place. May set `share` and `groups`."""

    @abstractmethod
    def exchange(self, wanted: bool) -> None:
        """Says whether the next backward exchanges gradients between ranks, or only adds to this rank's own."""

    def computing(self) -> AbstractContextManager[object]:
        """In which context the model is called."""
        compute = COMPUTE.get(self.config.precision)
        return torch.autocast(self.world.device.type, compute) if compute else nullcontext()

    def reconcile(self, gradients: list[Tensor]) -> None:
        """Makes the same, in place, what ought to be the same on several ranks."""

    def compute(self, inputs: Tensor) -> Tensor:
        """Logits as the model gives them."""
        with self.computing():
            logits: Tensor = self._module(inputs)
        return logits

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Ranks average the gradients, so that a rank's own mean would weigh samples of a short batch by their rank."""
        self.exchange(last)
        torch.autograd.backward(loss_sum * (self.scale.value * self.share.size / global_size))

    def update(self, learning_rate: float) -> float:
        """The norm is asked for by clipping, and by fp16."""
        gradients = [parameter.grad for parameter in self._parameters.values() if parameter.grad is not None]
        self.reconcile(gradients)
        wanted = self.config.clip_norm or self.scale.wanted
        norm = norm_of(gradients) / self.scale.value if wanted else float("nan")
        factor = factor_within(norm, self.config.clip_norm) / self.scale.value
        if self.scale.learn(norm):
            multiply(gradients, factor)
            for group in self._optimizer.param_groups:
                group["lr"] = learning_rate
            self._optimizer.step()
        self._optimizer.zero_grad()
        return norm

    def state(self) -> dict[str, Tensor]:
        """The optimizer's settings are left out: they are the configuration's."""
        state = {f"model.{name}": tensor for name, tensor in self.model.state_dict().items()}
        for name, parameter in self._parameters.items():
            known = self._optimizer.state[parameter]
            state |= {f"optimizer.{name}.{what}": tensor for what, tensor in known.items()}
        return state

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Tensors that a checkpoint was read into in place are these already."""
        with torch.no_grad():
            for name, tensor in self.state().items():
                tensor.copy_(state[name])
