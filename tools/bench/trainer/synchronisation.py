"""What keeping ranks in step costs: the trainer's steps beside those of ranks that know nothing of each other.

`… synchronisation SAMPLES`, samples of a rank in a step; rank 0 prints the steps per second of each round as JSON.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import torch
import torch.distributed as dist

from tests.trainer.bench.rank import SMALL_GPT, Training, run
from trainer.data.loader import load
from trainer.runtime.boundary import Boundary, Report
from trainer.runtime.distributed import World

ROUNDS = 5
SAMPLES_OF_A_ROUND = 64


def measure(world: World, samples: int) -> dict[str, list[float]]:
    """Steps per second of each round, in step with the other ranks and alone."""
    config = replace(SMALL_GPT, batch_size=samples * world.size)
    training = Training.of(config, world)
    strategy, stepper, boundary = training.strategy, training.stepper(), Boundary(world)
    batches = load(training.data.training, training.sampler().rest_of_epoch(0), workers=0)

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
    run(lambda world: measure(world, samples=int(sys.argv[1])))
