"""The cost of a checkpoint for the training that continues: `python -m tools.bench.trainer.checkpoint DIR`.

A single rank trains a model whose parameters and optimizer state take about 500 MB. Prints one line of JSON.
"""

from __future__ import annotations

import os
import sys
import time
from dataclasses import replace
from pathlib import Path
from statistics import median

import torch

from tools.bench.trainer.rank import Training, run
from trainer.checkpoint.manager import CheckpointManager
from trainer.config import TrainerConfig
from trainer.data.batch import Batch
from trainer.metrics.accuracy import sample_losses
from trainer.parallel import Strategy
from trainer.runtime.distributed import World
from trainer.train_state import TrainState

CONFIG = TrainerConfig(
    model="gpt", data="text", hidden_size=576, num_layers=10, num_heads=8, context_length=128, batch_size=4, dropout=0
)
ROUNDS = 5


def measure(directory: Path, world: World) -> dict[str, float]:
    """Return medians over saves, in seconds, and `megabytes`, the size of the state.

    `torch_save` is `torch.save` to a file in `directory`, `torch_save_durable` includes its fsync. `stall` is the time
    that a save blocks the training thread, `save` the time until it is durable. `step` is a step without a save,
    `step_beside_save` the first step during a save, stall included. The first save, which allocates, is left out.
    """
    training = Training.of(CONFIG, world)
    data, strategy = training.data, training.strategy
    batch = data.training.take(torch.arange(CONFIG.batch_size).numpy())
    config = replace(CONFIG, checkpoint_dir=directory / "checkpoints")
    manager = CheckpointManager(config, world, strategy, data.fingerprint, len(data.training))
    manager.resume()
    step(strategy, batch, manager)
    synchronous = [torch_save(strategy, directory / "state.pt") for _ in range(ROUNDS)]
    alone, beside, stalls, saves = [], [], [], []
    for number in range(ROUNDS + 1):
        alone.append(step(strategy, batch, manager))
        stalled, saved = manager.metrics.stall_seconds, manager.metrics.save_seconds
        began = time.perf_counter()
        manager.save(TrainState(step=number + 1))
        step(strategy, batch, manager)
        beside.append(time.perf_counter() - began)
        stalls.append(manager.metrics.stall_seconds - stalled)
        manager.wait(required=True)
        saves.append(manager.metrics.save_seconds - saved)
    manager.close()
    return {
        "megabytes": sum(tensor.nbytes for tensor in strategy.state_dict().values()) / 1e6,
        "torch_save": median(seconds for seconds, _ in synchronous),
        "torch_save_durable": median(seconds for _, seconds in synchronous),
        "stall": median(stalls[1:]),
        "save": median(saves[1:]),
        "step": median(alone[1:]),
        "step_beside_save": median(beside[1:]),
    }


def step(strategy: Strategy, batch: Batch, manager: CheckpointManager) -> float:
    """Return the seconds of an optimizer step."""
    began = time.perf_counter()
    loss = sample_losses(strategy.forward(batch.inputs), batch.targets).sum()
    strategy.backward(loss, len(batch), last=True)
    manager.wait_for_staging()
    strategy.update(CONFIG.learning_rate)
    return time.perf_counter() - began


def torch_save(strategy: Strategy, path: Path) -> tuple[float, float]:
    """Return the seconds until a file with the state is written, and until it is on disk."""
    path.unlink(missing_ok=True)
    began = time.perf_counter()
    with path.open("wb") as stream:
        torch.save(strategy.state_dict(), stream)
        written = time.perf_counter() - began
        os.fsync(stream.fileno())
    return written, time.perf_counter() - began


if __name__ == "__main__":
    # With torch's default number of threads.
    run(lambda world: measure(Path(sys.argv[1]), world))
