"""The cost of synchronisation: the trainer's steps compared to those of independent ranks.

`… synchronisation SAMPLES`: samples per rank and step; rank 0 prints the steps per second of each round as JSON.
"""

from __future__ import annotations

import sys
import time
from dataclasses import replace

import torch
import torch.distributed as dist

from tools.bench.trainer.rank import SMALL_GPT, Training, run
from trainer.runtime.distributed import World
from trainer.runtime.step_sync import StepReport, StepSync

ROUNDS = 5
SAMPLES_OF_A_ROUND = 64


def measure(world: World, samples: int) -> dict[str, list[float]]:
    """Return the steps per second of each round, synchronised and alone."""
    config = replace(SMALL_GPT, batch_size=samples * world.size)
    training = Training.of(config, world)
    strategy, stepper, step_sync = training.strategy, training.stepper(), StepSync(world)
    samples_of_run = training.data.training
    batches = ((step, samples_of_run.take(step.indices)) for step in training.sampler().rest_of_epoch(0))

    def together() -> None:
        step, batch = next(batches)
        loss_sum, _ = stepper.train_step(1, step, batch)
        step_sync.exchange(StepReport(loss_sum=loss_sum))

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
