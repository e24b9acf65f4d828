"""A typical first training script: DDP, a checkpoint every few steps written in sandbox, resumed if it exists.

It has the reference trainer's model and data, so that a step costs the same, and writes the same events. It runs alone
in its pod, from a ConfigMap.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from trainer.data.batch import Data
from trainer.data.text import VOCABULARY, load_text
from trainer.models.gpt import GPT, BlockShape

SAVE_STEPS = 10


class Windows(Dataset[Any]):
    """Single samples, as DataLoader needs them."""

    def __init__(self, data: Data) -> None:
        self._samples = data.training

    def __len__(self) -> int:
        return len(self._samples)

    def __getitem__(self, index: int) -> Any:
        batch = self._samples.take(np.array([index]))
        return batch.inputs[0], batch.targets[0]


def note(events: Path, event: str, step: int) -> None:
    """Append an event to the file; only rank 0 does this."""
    size = {"world_size": dist.get_world_size()} if event == "started" else {}
    line = json.dumps({"time": time.time(), "event": event, "step": step, **size})
    print(line, flush=True)
    with events.open("a") as file:
        file.write(line + "\n")


def main() -> None:
    """Train until the process is killed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--events", type=Path, required=True)
    parser.add_argument("--hidden-size", type=int, required=True)
    parser.add_argument("--num-layers", type=int, required=True)
    parser.add_argument("--context-length", type=int, required=True)
    parser.add_argument("--batch-size", type=int, required=True)
    arguments = parser.parse_args()

    dist.init_process_group("gloo")
    leads = dist.get_rank() == 0
    model: nn.Module = GPT(
        shape=BlockShape(
            hidden_size=arguments.hidden_size,
            num_heads=4,
            mlp_size=4 * arguments.hidden_size,
            activation="gelu",
            norm_epsilon=1e-5,
            dropout=0.1,
        ),
        vocabulary=VOCABULARY,
        context_length=arguments.context_length,
        max_positions=arguments.context_length,
        num_layers=arguments.num_layers,
        tied=False,
        recompute=False,
    )
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.002)
    step = 0
    if arguments.checkpoint.exists():
        saved = torch.load(arguments.checkpoint)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        step = saved["step"]
    if leads:
        note(arguments.events, "started", step)
    ddp = DistributedDataParallel(model)
    dataset = Windows(load_text(arguments.context_length))
    sampler: DistributedSampler[Any] = DistributedSampler(dataset)
    loader = DataLoader(dataset, arguments.batch_size // dist.get_world_size(), sampler=sampler, drop_last=True)
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = cross_entropy(ddp(inputs).flatten(0, 1), targets.flatten())
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            step += 1
            if leads:
                note(arguments.events, "step", step)
                if step % SAVE_STEPS == 0:
                    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": step}
                    torch.save(state, arguments.checkpoint)
        epoch += 1


if __name__ == "__main__":
    main()
