"""The random state of one rank. Training draws from torch's generators only; the data order has its own seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from ..errors import CheckpointError
from .manifest import InvalidCheckpointError
from .peers import Peers

RngState = dict[str, Tensor]


def rng_file_name(rank: int) -> str:
    """Returns the name of the file of `rank` in a checkpoint."""
    return f"rng-{rank:05d}.pt"


def seed_rank(seed: int, step: int, part: int) -> None:
    """Seeds the generators by part of the batch, so that dropout masks differ between samples.

    Ranks that compute one sample together have the same part and draw the same numbers.
    """
    torch.manual_seed(int(np.random.SeedSequence((seed, step, part)).generate_state(1, np.uint64)[0]))


def capture_rng_state(device: torch.device) -> RngState:
    """Returns the state of this rank's CPU and GPU generators."""
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def restore_rng_state(path: Path, device: torch.device) -> None:
    """Restores the generators from the file `path`. A generator without saved state, such as a GPU's, is unchanged.

    Raises:
        InvalidCheckpointError: The file holds no random state.
    """
    try:
        # weights_only: unpickling anything but data could run code of the file's author.
        state: RngState = torch.load(path, map_location="cpu", weights_only=True)
        torch.set_rng_state(state["cpu"])
        if device.type == "cuda" and "cuda" in state:
            torch.cuda.set_rng_state(state["cuda"], device)
    except OSError:
        raise
    # A file that torch did not write can fail in any way.
    except Exception as error:
        raise InvalidCheckpointError(f"{path.name} holds no random state: {error}".splitlines()[0]) from error


def restore_on_all_ranks(path: Path, peers: Peers, device: torch.device) -> None:
    """Restores the random state of each rank from the checkpoint in `path`. Collective.

    Raises:
        InvalidCheckpointError: A rank's file is damaged.
        CheckpointError: A rank could not read its file.
    """
    try:
        peers.on_all_ranks(lambda: restore_rng_state(path / rng_file_name(peers.rank), device))
    except InvalidCheckpointError:
        raise
    except CheckpointError as reason:
        raise CheckpointError(f"cannot read checkpoint {path}: {reason}") from reason
