"""Time of an all-reduce, by the conventions of nccl-tests (doc/PERFORMANCE.md).

Bandwidths are in GB/s. The algorithm bandwidth is bytes per second. The bus bandwidth is that times 2(n-1)/n, which is
comparable with the speed of the links for any number of processes n.
"""

from __future__ import annotations

import time
from datetime import timedelta
from typing import Any, Optional

import torch
import torch.distributed as dist
from pairs import Bandwidths, Pair

# All processes have joined: a collective that takes longer hangs, because a path is blocked.
TIMEOUT = timedelta(seconds=120)
# Bytes per element.
ITEM = 4
Group = Optional[dist.ProcessGroup]


def sizes(start: int, end: int, factor: int) -> list[int]:
    """Returns sizes in bytes: from the first, times `factor`, up to the last, which is always included."""
    found = []
    size = start
    while size < end:
        found.append(size)
        size *= factor
    return [*found, end]


def bus_bandwidth(algorithm: float, processes: int) -> float:
    """Returns the bandwidth of each link: in an all-reduce a process sends and receives 2(n-1)/n of the data."""
    return algorithm * 2 * (processes - 1) / processes


def row(size: int, device: torch.device, *, warm_up: int, iterations: int) -> dict[str, Any]:
    """Collective: returns one row of the sweep, with the time of the slowest process."""
    ours, data = _data(size, device)
    dist.all_reduce(data)
    world = dist.get_world_size()
    wrong = int((data != world * (world + 1) / 2).sum())
    for _ in range(warm_up):
        dist.all_reduce(data.copy_(ours))
    seconds = _seconds(data, device, iterations) / iterations
    seconds, most_wrong = _most([seconds, float(wrong)], device)
    algorithm = data.numel() * ITEM / seconds / 1e9
    return {
        "bytes": data.numel() * ITEM,
        "time_us": round(seconds * 1e6, 1),
        "algbw": round(algorithm, 3),
        "busbw": round(bus_bandwidth(algorithm, world), 3),
        "wrong": int(most_wrong),
    }


class PairMeter:
    """Measures pairs of nodes with an all-reduce of the processes on both, all pairs of a round in parallel."""

    def __init__(self, size: int, device: torch.device, *, iterations: int, order: list[int], processes: int) -> None:
        """`order` maps each number of a pair to its node; `processes` is their number on every node."""
        self._size = size
        self._device = device
        self._iterations = iterations
        self._order = order
        self._processes = processes

    def __call__(self, pairs: list[Pair]) -> Bandwidths:
        """Collective: returns the bus bandwidth of each pair."""
        # All processes create all groups in the same order, because groups are numbered by creation.
        groups = [dist.new_group(self._ranks(pair), TIMEOUT) for pair in pairs]
        measured = None
        for pair, group in zip(pairs, groups):
            if isinstance(group, dist.ProcessGroup):
                measured = (pair, self._bandwidth(group))
                dist.destroy_process_group(group)
        everything: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(everything, measured)
        return dict(found for found in everything if found is not None)

    def _ranks(self, pair: Pair) -> list[int]:
        nodes = sorted(self._order[number] for number in pair)
        return [node * self._processes + local for node in nodes for local in range(self._processes)]

    def _bandwidth(self, group: Group) -> float:
        ours, data = _data(self._size, self._device, group)
        dist.all_reduce(data, group=group)
        # The best time, because other load on a machine can only slow it down.
        best = min(_seconds(data.copy_(ours), self._device, 1, group) for _ in range(self._iterations))
        (seconds,) = _most([best], self._device, group)
        return round(bus_bandwidth(data.numel() * ITEM / seconds / 1e9, dist.get_world_size(group)), 4)


def wait(device: torch.device) -> None:
    """Wait until the device has finished all queued work."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def _data(size: int, device: torch.device, group: Group = None) -> tuple[torch.Tensor, torch.Tensor]:
    ours = torch.full((max(1, size // ITEM),), float(dist.get_rank(group) + 1), device=device)
    return ours, ours.clone()


def _seconds(data: torch.Tensor, device: torch.device, iterations: int, group: Group = None) -> float:
    dist.barrier(group, device_ids=[device.index] if device.type == "cuda" else None)
    wait(device)
    began = time.perf_counter()
    for _ in range(iterations):
        dist.all_reduce(data, group=group)
    wait(device)
    return time.perf_counter() - began


def _most(numbers: list[float], device: torch.device, group: Group = None) -> list[float]:
    most = torch.tensor(numbers, dtype=torch.float64, device=device)
    dist.all_reduce(most, op=dist.ReduceOp.MAX, group=group)
    return [float(number) for number in most.tolist()]
