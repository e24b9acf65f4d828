"""A stand-in for NVIDIA's nccl-tests, which need GPUs: measures Open MPI's all-reduce on CPUs and writes the same JSON.

Options and JSON are those of v2.19.6 (src/common.cu and src/util.cu), as far as the preflight uses them.
"""

from __future__ import annotations

import argparse
import json
import time
from array import array
from pathlib import Path
from typing import Any

from mpi4py import MPI

FLOAT = 4


def measure(count: int, warm_up: int, iterations: int) -> dict[str, Any]:
    """Measures one half of a row: an in-place sum of `count` floats, each rank adding its rank plus one."""
    world = MPI.COMM_WORLD
    ours = array("f", [world.rank + 1.0]) * count
    data = array("f", ours)
    world.Allreduce(MPI.IN_PLACE, data)
    wrong = sum(1 for value in data if value != world.size * (world.size + 1) / 2)
    for _ in range(warm_up):
        world.Allreduce(MPI.IN_PLACE, array("f", ours))
    world.Barrier()
    began = time.perf_counter()
    for _ in range(iterations):
        world.Allreduce(MPI.IN_PLACE, data)
    seconds = world.allreduce(time.perf_counter() - began, MPI.MAX) / iterations
    algorithm = count * FLOAT / seconds / 1e9
    bus = algorithm * 2 * (world.size - 1) / world.size
    return {"time": seconds * 1e6, "alg_bw": algorithm, "bus_bw": bus, "nwrong": float(wrong)}


def main() -> None:
    """Measures each size; rank 0 reports."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in "befgnTwc":
        parser.add_argument(f"-{option}", type=int)
    parser.add_argument("-J", type=Path)
    options = parser.parse_args()
    results = []
    size = options.b
    while size <= options.e:
        count = size // FLOAT
        halves = {place: measure(count, options.w, options.n) for place in ("out_of_place", "in_place")}
        results.append({"size": count * FLOAT, "count": count, "type": "float", "redop": "sum", "root": "-1", **halves})
        size *= options.f
    if MPI.COMM_WORLD.rank == 0:
        for result in results:
            print(result["size"], result["in_place"], flush=True)
        options.J.write_text(json.dumps({"version": 3, "results": results}))


main()
