"""What keeping ranks in step costs: the trainer's steps beside those of ranks that know nothing of each other.

`… synchronisation SAMPLES`, samples of a rank in a step; rank 0 prints the steps per second of each round as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from dataclasses import replace

import torch
import torch.distributed as dist

from trainer.config import TrainerConfig
from trainer.data import load_data
from trainer.data.loader import load
from trainer.data.sampler import GlobalSampler
from trainer.models import build_model
from trainer.parallel import spread
from trainer.runtime.boundary import Boundary, Report
from trainer.runtime.distributed import World, process_group
from trainer.runtime.launch import Launch
from trainer.runtime.stopwatch import Stopwatch
from trainer.step import Stepper

CONFIG = TrainerConfig(
    model="gpt", data="text", hidden_size=256, num_layers=4, num_heads=4, context_length=128, batch_size=16, dropout=0
)
ROUNDS = 5
SAMPLES_OF_A_ROUND = 64


def measure(world: World, samples: int) -> dict[str, list[float]]:
    """Steps per second of each round, in step with the other ranks and alone."""
    config = replace(CONFIG, batch_size=samples * world.size)
    data = load_data(config)
    torch.manual_seed(0)
    strategy = spread(build_model(config, shape=data.shape, classes=data.classes), config, world)
    sampler = GlobalSampler(
        num_samples=len(data.training),
        batch_size=config.batch_size,
        seed=0,
        rank=world.rank,
        world_size=world.size,
    )
    batches = load(data.training, sampler.rest_of_epoch(0), workers=0)
    boundary = Boundary(world)
    stepper = Stepper(
        config=config,
        strategy=strategy,
        device=world.device,
        stopwatch=Stopwatch(world.device),
        before_update=lambda: None,
        steps=1000,
    )

    def together() -> None:
        step, batch = next(batches)
        loss_sum, _ = stepper.take(1, step, batch)
        boundary.exchange(Report(loss_sum=loss_sum))

    def alone() -> None:
        step, batch = next(batches)
        logits = strategy.forward(batch.inputs)
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), reduction="sum")
        strategy.backward(loss, step.global_size, last=False)
        strategy.update(config.learning_rate)

    steps = SAMPLES_OF_A_ROUND // samples
    rates: dict[str, list[float]] = {"together": [], "alone": []}
    for number in range(ROUNDS + 1):
        for name, take in (("together", together), ("alone", alone)):
            dist.barrier()
            begun = time.perf_counter()
            for _ in range(steps):
                take()
            if number:  # the first is for warming up
                rates[name].append(steps / (time.perf_counter() - begun))
    return rates


if __name__ == "__main__":
    torch.set_num_threads(1)
    launch = Launch.from_environment(os.environ)
    with process_group(launch, timeout_seconds=120) as joined:
        found = measure(joined, int(sys.argv[1]))
    if launch.rank == 0:
        print(json.dumps(found))
    os._exit(0)
