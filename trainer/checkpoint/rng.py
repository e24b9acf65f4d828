"""Random state of one rank. Only torch's generators are drawn from in training; the data order has its own seed."""

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

RngState = dict[str, Tensor]


def file_name(rank: int) -> str:
    """The file of `rank` in a checkpoint."""
    return f"rng-{rank:05d}.pt"


def seed_rank(seed: int, step: int, part: int) -> None:
    """Gives each part of the batches a stream of its own, so that dropout masks differ between samples.

    Ranks that compute one sample together have the same part, and draw the same.
    """
    torch.manual_seed(int(np.random.SeedSequence((seed, step, part)).generate_state(1, np.uint64)[0]))


def capture(device: torch.device) -> RngState:
    """The state of the generators of this rank and its device."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def restore(path: Path, device: torch.device) -> None:
    """Puts the generators back into the state in `path`. One that it does not have, such as a GPU's, stays as it is."""
    # weights_only: a checkpoint is data, and unpickling anything else could run code of whoever wrote it.
    state: RngState = torch.load(path, map_location="cpu", weights_only=True)
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
