"""The process group and the collectives that the trainer needs."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch.distributed import HashStore, PrefixStore, Store  # type: ignore[attr-defined]  # documented, but missing in __all__

from ..errors import ConfigError, TrainerError
from .launch import Launch
from .store import connect_store

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """All ranks of the run, seen from this one. All methods are collectives: every rank calls them in the same order.

    Attributes:
        launch: This process's place in the launch.
        backend: The backend of the process group.
        device: The device of this rank.
        rendezvous_id: Unique to this rendezvous, even if several share one store.
        timeout_seconds: The time after which a collective fails, unless its group has another timeout.
    """

    launch: Launch
    backend: str
    device: torch.device
    rendezvous_id: str = ""
    timeout_seconds: float = 600.0

    @property
    def rank(self) -> int:
        """The rank of this process, in [0, size)."""
        return self.launch.rank

    @property
    def size(self) -> int:
        """The world size."""
        return self.launch.size

    def cpu_group(self) -> dist.ProcessGroup:
        """Creates another gloo group of all ranks, for CPU tensors or for use by another thread."""
        return gloo_group(self.timeout_seconds)

    def sum(self, values: Sequence[float]) -> list[float]:
        """Returns element-wise sums over all ranks, in float64."""
        total = torch.tensor(values, dtype=torch.float64, device=self.device)
        dist.all_reduce(total)
        return [float(value) for value in total.tolist()]

    def gather(self, value: T) -> list[T]:
        """Returns the `value` of every rank, in rank order. Values are pickled: use small CPU objects only."""
        values: list[Any] = [None] * self.size
        dist.all_gather_object(values, value)
        return values

    def on_rank_zero(self, decide: Callable[[], T]) -> T:
        """Runs `decide` on rank 0 and returns its result on every rank.

        Raises:
            TrainerError: `decide` raised it. Every rank raises it, so that no rank waits for a peer that has given up.
        """
        outcome: list[Any] = [None, None]
        if self.rank == 0:
            try:
                outcome[0] = decide()
            except TrainerError as error:
                outcome[1] = error
        dist.broadcast_object_list(outcome, src=0)
        if outcome[1] is not None:
            raise outcome[1]
        result: T = outcome[0]
        return result


def gloo_group(timeout_seconds: float) -> dist.ProcessGroup:
    """Creates another gloo group of all ranks. Collective."""
    group = dist.new_group(backend="gloo", timeout=timedelta(seconds=timeout_seconds))
    assert isinstance(group, dist.ProcessGroup)  # noqa: S101 - ranks outside of a group get another type
    return group


@contextmanager
def process_group(launch: Launch, timeout_seconds: float) -> Iterator[World]:
    """Joins the process group (NCCL on GPUs, else gloo) and leaves it at the end.

    A single process gets a real group too, so that there is one code path. If a peer dies, its connections close and
    gloo fails the next collective at once. With NCCL, or if a node vanishes silently, it fails after `timeout_seconds`.
    """
    world = replace(_world(launch), timeout_seconds=timeout_seconds)
    dist.init_process_group(
        world.backend,
        store=_store(launch, timeout_seconds),
        rank=launch.rank,
        world_size=launch.size,
        timeout=timedelta(seconds=timeout_seconds),
        device_id=world.device if world.backend == "nccl" else None,
    )
    try:
        yield replace(world, rendezvous_id=world.on_rank_zero(lambda: os.urandom(8).hex()))
    except TrainerError:
        # Every rank raises TrainerError, so leaving is safe. After any other failure, peers may be gone or stuck in a
        # collective, and leaving could block. The end of the process closes its connections and so frees its peers.
        dist.destroy_process_group()
        raise
    dist.destroy_process_group()


def _store(launch: Launch, timeout_seconds: float) -> Store | None:
    """Returns the store of the rendezvous; None for the default that torch finds by itself."""
    if not launch.launched:
        return HashStore()
    return PrefixStore(launch.store_prefix, connect_store(timeout_seconds)) if launch.store_prefix else None


def _world(launch: Launch) -> World:
    if not torch.cuda.is_available():
        return World(launch=launch, backend="gloo", device=torch.device("cpu"))
    gpus = torch.cuda.device_count()
    if launch.local_size > gpus:
        raise ConfigError(
            f"{launch.local_size} processes per node but {gpus} visible GPU(s), and each process needs its own: "
            f"write torchrun --nproc-per-node {gpus}"
        )
    device = torch.device("cuda", launch.local_rank)
    torch.cuda.set_device(device)
    return World(launch=launch, backend="nccl", device=device)
