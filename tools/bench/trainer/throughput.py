"""The cost of saves for a run: steps of two ranks with a save every ten seconds, and without saves."""

from __future__ import annotations

import sys
import time
from dataclasses import replace
from itertools import chain, count
from pathlib import Path

import torch

from tools.bench.trainer.rank import SMALL_GPT, Training, run
from trainer.checkpoint.manager import CheckpointManager
from trainer.runtime.distributed import World
from trainer.runtime.step_sync import StepReport, StepSync
from trainer.train_state import TrainState

ROUNDS = 3
SECONDS = 30.0
SAVE_SECONDS = 10.0


def measure(world: World, directory: Path) -> dict[str, list[float]]:
    """Return the steps per second of each round, with and without saves."""
    config = replace(SMALL_GPT, checkpoint_dir=directory)
    training = Training.of(config, world)
    data, sampler, step_sync = training.data, training.sampler(), StepSync(world)
    checkpoints = CheckpointManager(config, world, training.strategy, data.fingerprint, len(data.training))
    checkpoints.resume()
    stepper = training.stepper(checkpoints.wait_for_staging)
    size = len(data.training)
    epochs = chain.from_iterable(sampler.rest_of_epoch(epoch * size) for epoch in count())
    steps = ((step, data.training.take(step.indices)) for step in epochs)
    number = 0

    def train(seconds: float, every: float | None) -> float:
        nonlocal number
        begun, first = time.monotonic(), number
        saved = begun
        while True:
            step, batch = next(steps)
            number += 1
            loss_sum, _ = stepper.train_step(number, step, batch)
            now = time.monotonic()
            ended, due = now - begun >= seconds, every is not None and now - saved >= every
            reports = step_sync.exchange(StepReport(loss_sum=loss_sum, stop=ended, save=due))
            if any(report.save for report in reports):
                checkpoints.save(TrainState(step=number, position=step.position))
                saved = now
            if any(report.stop for report in reports):
                checkpoints.wait(required=True)
                return (number - first) / (time.monotonic() - begun)

    train(5.0, None)
    found: dict[str, list[float]] = {"with saves": [], "without": []}
    for _ in range(ROUNDS):
        found["with saves"].append(train(SECONDS, SAVE_SECONDS))
        found["without"].append(train(SECONDS, None))
    return found


if __name__ == "__main__":
    torch.set_num_threads(1)
    run(lambda world: measure(world, Path(sys.argv[1])))
