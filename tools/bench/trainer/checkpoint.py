"""What a checkpoint costs the training that goes on: `python -m tests.trainer.bench.checkpoint DIR`.

A world of one trains a model whose parameters and optimizer take about 500 MB. Prints one line of JSON.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch

from tests.trainer.bench.rank import Training, run
from trainer.checkpoint.manager import CheckpointManager
from trainer.config import TrainerConfig
from trainer.data.batch import Batch
from trainer.metrics.accuracy import sample_losses
from trainer.parallel import Strategy
from trainer.progress import Progress
from trainer.runtime.distributed import World

CONFIG = TrainerConfig(
    model="gpt", data="text", hidden_size=576, num_layers=10, num_heads=8, context_length=128, batch_size=4, dropout=0
)
ROUNDS = 5


def measure(directory: Path, world: World) -> dict[str, float]:
    """Medians over saves, in seconds, but for `megabytes`, the size of what is saved.

    `torch_save` is `torch.save` to a file in `directory`, `torch_save_durable` with an fsync of it. `stall` is how long
    a save keeps the training thread from training, `save` how long it takes until it is durable. `step` is a step while
    nothing is saved, `step_beside_save` the first of a save, stall included. The first save is left out: it allocates.
    """
    training = Training.of(CONFIG, world)
    data, strategy = training.data, training.strategy
    batch = data.training.take(torch.arange(CONFIG.batch_size).numpy())
    manager = CheckpointManager(replace(CONFIG, checkpoint_dir=directory / "checkpoints"), world, strategy, "")
    manager.resume()
    step(strategy, batch, manager)
    synchronous = [torch_save(strategy, directory / "state.pt") for _ in range(ROUNDS)]
    alone, beside, stalls, saves = [], [], [], []
    for number in range(ROUNDS + 1):
        alone.append(step(strategy, batch, manager))
        stalled, saved = manager.figures.stall_seconds, manager.figures.save_seconds
        began = time.perf_counter()
        manager.save(Progress(step=number + 1))
        step(strategy, batch, manager)
        beside.append(time.perf_counter() - began)
        stalls.append(manager.figures.stall_seconds - stalled)
        manager.wait(required=True)
        saves.append(manager.figures.save_seconds - saved)
    manager.close()
    return {
        "megabytes": sum(tensor.nbytes for tensor in strategy.state().values()) / 1e6,
        "torch_save": median(seconds for seconds, _ in synchronous),
        "torch_save_durable": median(seconds for _, seconds in synchronous),
        "stall": median(stalls[1:]),
        "save": median(saves[1:]),
        "step": median(alone[1:]),
        "step_beside_save": median(beside[1:]),
    }


def step(strategy: Strategy, batch: Batch, manager: CheckpointManager) -> float:
    """Seconds of a step of the optimizer."""
    began = time.perf_counter()
    loss = sample_losses(strategy.forward(batch.inputs), batch.targets).sum()
    strategy.backward(loss, len(batch), last=True)
    manager.before_update()
    strategy.update(CONFIG.learning_rate)
    return time.perf_counter() - began


def torch_save(strategy: Strategy, path: Path) -> tuple[float, float]:
    """Seconds until a file with the state is written, and until it is on the disk."""
    path.unlink(missing_ok=True)
    began = time.perf_counter()
    with path.open("wb") as stream:
        torch.save(strategy.state(), stream)
        written = time.perf_counter() - began
        os.fsync(stream.fileno())
    return written, time.perf_counter() - began


if __name__ == "__main__":
    # With as many threads as torch takes by itself.
    run(lambda world: measure(Path(sys.argv[1]), world))
