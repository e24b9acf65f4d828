"""A strategy that trains nothing: its tensors say which step they are of."""

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
from trainer.parallel import Share, Strategy
from trainer.progress import Progress
from trainer.runtime.distributed import World
from trainer.runtime.launch import Launch

SAMPLES_PER_STEP = 32
FINGERPRINT = "toy-0123"


class Lonely(World):
    """A world of one without a process group, and so without threads: such a process can be forked."""

    def cpu_group(self) -> dist.ProcessGroup:
        """None, which a world of one does with."""
        none: Any = None
        return none  # type: ignore[no-any-return]


LONELY = Lonely(launch=Launch(), backend="none", device=torch.device("cpu"))


class Toy(Strategy):
    """Every number in `state()` is the step, but for the place of its tensor behind the point."""

    def __init__(self, shapes: Iterable[tuple[int, ...]] = ((3, 4), (5,), ()), rank: int = 0, size: int = 1) -> None:
        self.model = MLP(features=1, hidden_size=1, classes=1, dropout=0.0)
        self.share = Share(rank, size)
        self.tensors = {f"model.{place}": nn.Parameter(torch.zeros(shape)) for place, shape in enumerate(shapes)}
        self.known: dict[str, Any] = {}

    def compute(self, inputs: Tensor) -> Tensor:
        """What it is given."""
        return inputs

    def backward(self, loss_sum: Tensor, global_size: int, *, last: bool) -> None:
        """Nothing."""

    def update(self, learning_rate: float) -> float:
        """What it is given."""
        return learning_rate

    def state(self) -> dict[str, Tensor]:
        """The tensors in use."""
        return {name: tensor.detach() for name, tensor in self.tensors.items()}

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Nothing: what is in use has been read into."""
        assert state.keys() == self.tensors.keys()

    def extras(self) -> dict[str, Any]:
        """The step."""
        return self.known

    def load_extras(self, extras: Mapping[str, Any]) -> None:
        """The step."""
        self.known = dict(extras)

    def train_to(self, step: int) -> Progress:
        """Changes the tensors in place, as an optimizer does."""
        with torch.no_grad():
            for place, tensor in enumerate(self.tensors.values()):
                tensor.fill_(step + place / 8)
        self.known = {"step": step}
        return progress_at(step)

    def is_at(self, step: int) -> bool:
        """Whether everything is as `train_to(step)` made it."""
        exact = all(
            torch.equal(tensor, torch.full_like(tensor, step + place / 8))
            for place, tensor in enumerate(self.tensors.values())
        )
        return exact and self.known == ({"step": step} if step else {})


def progress_at(step: int) -> Progress:
    """How far a run is after `step`."""
    return Progress(step=step, position=step * SAMPLES_PER_STEP)


def manager_of(directory: Path, strategy: Strategy, world: World = LONELY, /, **fields: Any) -> CheckpointManager:
    """The manager of a run on `directory`."""
    return CheckpointManager(TrainerConfig(checkpoint_dir=directory, **fields), world, strategy, FINGERPRINT)


def run(directory: Path, *steps: int, world: World = LONELY, **fields: Any) -> Toy:
    """A run that saves at each of `steps`, and ends."""
    toy = Toy()
    manager = manager_of(directory, toy, world, **fields)
    manager.resume()
    for step in steps:
        manager.before_update()
        manager.save(toy.train_to(step))
    manager.wait(required=True)
    manager.close()
    return toy
