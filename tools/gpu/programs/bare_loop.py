"""The model of a run in a loop of ten lines: `python -m tools.gpu.programs.bare_loop [flags of the trainer]`.

It is the peer of the trainer's speed: it has what training needs, and no DDP, checkpoints, events, watchdog or check of
the loss. It prints one JSON line.
"""

from __future__ import annotations

import json
import sys
import time
from statistics import median

import torch
from torch.nn.functional import cross_entropy

from trainer.config import parse_flags
from trainer.models import build_model

VOCABULARY = 256


def main(flags: list[str]) -> None:
    """Trains on random tokens, and prints the median of the seconds of a step."""
    config = parse_flags(flags)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    with device:
        model = build_model(config, shape=(config.context_length,), classes=VOCABULARY)
    for block in model.blocks():
        block.forward = torch.compile(block.forward)
    optimizer = torch.optim.AdamW(model.parameters(), lr=config.learning_rate, fused=True)
    seconds, begun = [], time.perf_counter()
    for _ in range(config.steps):
        tokens = torch.randint(VOCABULARY, (config.batch_size, config.context_length + 1)).to(device)
        with torch.autocast(device.type, torch.bfloat16):
            logits = model(tokens[:, :-1])
        loss = cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        loss.item()  # waits for the GPU, as a log of the loss does
        seconds.append(time.perf_counter() - begun)
        begun = time.perf_counter()
    print(json.dumps({"step_seconds": median(seconds[config.steps // 2 :])}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
