"""Random state of one rank. Only torch's generators are drawn from in training; the data order has its own seed."""

import numpy as np
import torch
from torch import Tensor

RngState = dict[str, Tensor]


def seed_rank(seed: int, epoch: int, rank: int) -> None:
    """Gives each rank a stream of its own, so that dropout masks differ between ranks."""
    torch.manual_seed(int(np.random.SeedSequence((seed, epoch, rank)).generate_state(1, np.uint64)[0]))


def capture(device: torch.device) -> RngState:
    """The state of the generators of this rank and its device."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def restore(state: RngState, device: torch.device) -> None:
    """Puts the generators back into `state`, which was captured on a device of the same type."""
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)
