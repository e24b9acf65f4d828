"""A rank of a benchmark: its training, and the output of its measurements."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass

import torch

from trainer.config import TrainerConfig
from trainer.data import load_data
from trainer.data.batch import Data
from trainer.data.sampler import GlobalSampler
from trainer.models import build_model
from trainer.parallel import Strategy, init_device, parallelize
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch
from trainer.runtime.stopwatch import Stopwatch
from trainer.step import Stepper

# Three million parameters.
SMALL_GPT = TrainerConfig(
    model="gpt", data="text", hidden_size=256, num_layers=4, num_heads=4, context_length=128, batch_size=16, dropout=0
)
TIMEOUT_SECONDS = 120


@dataclass(frozen=True)
class Training:
    """The training of a rank."""

    config: TrainerConfig
    world: World
    data: Data
    strategy: Strategy

    @classmethod
    def of(cls, config: TrainerConfig, world: World) -> Training:
        """Return a model with the same initial weights on all ranks. A collective."""
        data = load_data(config)
        torch.manual_seed(0)
        with init_device(world):
            model = build_model(config, shape=data.shape, classes=data.classes)
        strategy = parallelize(model, config, world)
        return cls(config, world, data, strategy)

    def sampler(self) -> GlobalSampler:
        """Return the sampler of this rank's part of each batch."""
        return GlobalSampler(
            num_samples=len(self.data.training),
            batch_size=self.config.batch_size,
            seed=0,
            rank=self.world.rank,
            world_size=self.world.size,
        )

    def stepper(self, before_update: Callable[[], None] = lambda: None) -> Stepper:
        """Return the trainer's own stepper."""
        return Stepper(
            config=self.config,
            strategy=self.strategy,
            device=self.world.device,
            stopwatch=Stopwatch(self.world.device),
            on_part=lambda: None,
            before_update=before_update,
            steps=10_000,
        )


def run(measure: Callable[[World], object]) -> None:
    """Measure on this rank, print rank 0's result as JSON, and exit."""
    launch = Launch.from_environment(os.environ)
    with process_group(launch, TIMEOUT_SECONDS) as world:
        found = measure(world)
    if launch.rank == 0:
        print(json.dumps(found), flush=True)
    os._exit(0)
