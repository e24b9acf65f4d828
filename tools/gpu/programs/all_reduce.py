"""All-reduce on each rank: `torchrun … -m tools.gpu.programs.all_reduce MEBIBYTES`. Rank 0 prints one JSON line."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable

import torch
import torch.distributed as dist

from trainer.runtime.distributed import process_group
from trainer.runtime.launch import Launch

WARM_UP, ROUNDS = 5, 20


def measure(mebibytes: int, device: torch.device) -> dict[str, float]:
    """Returns the deviation from the exact sum, and the bandwidth. Collective."""
    rank, size = dist.get_rank(), dist.get_world_size()
    tensor = torch.full((mebibytes << 18,), float(rank + 1), device=device)
    dist.all_reduce(tensor)
    # Sums of small whole numbers are exact in fp32.
    wrong = float((tensor - size * (size + 1) / 2).abs().max())
    seconds = _seconds(lambda: dist.all_reduce(tensor), device)
    rate = (mebibytes << 20) / seconds
    # As nccl-tests: each rank sends and receives this share of the data, for any algorithm.
    # https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md
    return {
        "ranks": size,
        "deviation": wrong,
        "milliseconds": seconds * 1e3,
        "bus_gb_per_second": rate * 2 * (size - 1) / size / 1e9,
    }


def _seconds(collective: Callable[[], object], device: torch.device) -> float:
    for round_number in range(WARM_UP + ROUNDS):
        if round_number == WARM_UP:
            _synchronize(device)
            begun = time.perf_counter()
        collective()
    _synchronize(device)
    return (time.perf_counter() - begun) / ROUNDS


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def main(mebibytes: int) -> None:
    """Joins the process group and measures."""
    with process_group(Launch.from_environment(os.environ), timeout_seconds=60) as world:
        found = measure(mebibytes, world.device) | {"backend": world.backend}
        if world.rank == 0:
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
