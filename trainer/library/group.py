"""Ranks of a script that has called `torch.distributed.init_process_group`, or of a single process."""

from __future__ import annotations

import os

import torch
import torch.distributed as dist

from ..checkpoint.peers import Peers
from ..runtime.distributed import World, gloo_group
from ..runtime.launch import Launch

# Longer than a save to a slow volume: a rank may wait for another one that still writes.
_SECONDS = 1800.0


def group_of_all() -> dist.ProcessGroup | None:
    """Creates another group of all ranks, for CPU tensors; None in a single process. Collective."""
    return gloo_group(_SECONDS) if dist.is_initialized() else None


def peers() -> Peers:
    """Returns all ranks, with a group of their own. Collective."""
    return Peers(group_of_all())


def joined_world() -> World:
    """Returns all ranks as the watchdog sees them. Collective."""
    device = torch.device("cuda", torch.cuda.current_device()) if torch.cuda.is_available() else torch.device("cpu")
    if not dist.is_initialized():
        return World(launch=Launch(), backend="none", device=device)
    identifier = [os.urandom(8).hex()]
    dist.broadcast_object_list(identifier, src=0)
    return World(
        launch=Launch.from_environment(os.environ),
        backend=dist.get_backend(),
        device=device,
        rendezvous_id=identifier[0],
    )
