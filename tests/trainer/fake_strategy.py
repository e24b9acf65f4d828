"""A strategy that trains nothing: its tensors contain the step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from trainer.checkpoint.manager import CheckpointManager
from trainer.config import TrainerConfig
from trainer.models.mlp import MLP
from trainer.parallel import DataShard, Strategy
from trainer.runtime.distributed import World
from trainer.runtime.launch import Launch
from trainer.train_state import TrainState

SAMPLES_PER_STEP = 32
SAMPLES = 10**6
FINGERPRINT = "strategy-0123"


class SingleProcessWorld(World):
    """A world of one without a process group, and so without threads: such a process can be forked."""

    def cpu_group(self) -> dist.ProcessGroup:
        """Returns None; checkpoints of one process need no group."""
        none: Any = None
        return none  # type: ignore[no-any-return]


SINGLE_PROCESS_WORLD = SingleProcessWorld(launch=Launch(), backend="none", device=torch.device("cpu"))


class FakeStrategy(Strategy):
    """A strategy in which every number of `state_dict()` is the step, plus an eighth for each preceding tensor."""

    def __init__(self, shapes: Iterable[tuple[int, ...]] = ((3, 4), (5,), ()), rank: int = 0, size: int = 1) -> None:
        self.model = MLP(features=1, hidden_size=1, classes=1, dropout=0.0)
        self.data_shard = DataShard(rank, size)
        self.tensors = {f"model.{place}": nn.Parameter(torch.zeros(shape)) for place, shape in enumerate(shapes)}
        self.known: dict[str, Any] = {}

    def compute(self, inputs: Tensor) -> Tensor:
        """Returns its input."""
        return inputs

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Does nothing."""

    def update(self, learning_rate: float) -> float:
        """Returns its input."""
        return learning_rate

    def state_dict(self) -> dict[str, Tensor]:
        """Returns the tensors in use."""
        return {name: tensor.detach() for name, tensor in self.tensors.items()}

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Does nothing: the tensors in use were read in place."""
        assert state.keys() == self.tensors.keys()

    def extras(self) -> dict[str, Any]:
        """Returns the step."""
        return self.known

    def load_extras(self, extras: Mapping[str, Any]) -> None:
        """Loads the step."""
        self.known = dict(extras)

    def train_to(self, step: int) -> TrainState:
        """Changes the tensors in place, as an optimizer does."""
        with torch.no_grad():
            for place, tensor in enumerate(self.tensors.values()):
                tensor.fill_(step + place / 8)
        self.known = {"step": step}
        return train_state_at(step)

    def is_at(self, step: int) -> bool:
        """Returns true if everything is as `train_to(step)` left it."""
        exact = all(
            torch.equal(tensor, torch.full_like(tensor, step + place / 8))
            for place, tensor in enumerate(self.tensors.values())
        )
        return exact and self.known == ({"step": step} if step else {})


def train_state_at(step: int) -> TrainState:
    """Returns the training state after `step`."""
    return TrainState(step=step, position=step * SAMPLES_PER_STEP)


def new_manager(
    directory: Path, strategy: Strategy, world: World = SINGLE_PROCESS_WORLD, /, **fields: Any
) -> CheckpointManager:
    """Returns the checkpoint manager of a run on `directory`."""
    config = TrainerConfig(checkpoint_dir=directory, **fields)
    return CheckpointManager(config, world, strategy, FINGERPRINT, SAMPLES)


def run(directory: Path, *steps: int, world: World = SINGLE_PROCESS_WORLD, **fields: Any) -> FakeStrategy:
    """Runs a fake training that saves at each of `steps`."""
    strategy = FakeStrategy()
    manager = new_manager(directory, strategy, world, **fields)
    manager.resume()
    for step in steps:
        manager.wait_for_staging()
        manager.save(strategy.train_to(step))
    manager.wait(required=True)
    manager.close()
    return strategy
