"""A rank of a benchmark: what it trains, and how it says what it has measured."""

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
from trainer.parallel import Strategy, birthplace, spread
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
    """What a rank trains."""

    config: TrainerConfig
    world: World
    data: Data
    strategy: Strategy

    @classmethod
    def of(cls, config: TrainerConfig, world: World) -> Training:
        """A model that begins the same in all ranks. A collective."""
        data = load_data(config)
        torch.manual_seed(0)
        with birthplace(world):
            model = build_model(config, shape=data.shape, classes=data.classes)
        strategy = spread(model, config, world)
        return cls(config, world, data, strategy)

    def sampler(self) -> GlobalSampler:
        """This rank's part of each batch."""
        return GlobalSampler(
            num_samples=len(self.data.training),
            batch_size=self.config.batch_size,
            seed=0,
            rank=self.world.rank,
            world_size=self.world.size,
        )

    def stepper(self, before_update: Callable[[], None] = lambda: None) -> Stepper:
        """The trainer's own steps."""
        return Stepper(
            config=self.config,
            strategy=self.strategy,
            device=self.world.device,
            stopwatch=Stopwatch(self.world.device),
            before_update=before_update,
            steps=10_000,
        )


def run(measure: Callable[[World], object]) -> None:
    """Measure on this rank of the launch, let rank 0 print what was found as JSON, and end."""
    launch = Launch.from_environment(os.environ)
    with process_group(launch, TIMEOUT_SECONDS) as world:
        found = measure(world)
    if launch.rank == 0:
        print(json.dumps(found), flush=True)
    os._exit(0)
