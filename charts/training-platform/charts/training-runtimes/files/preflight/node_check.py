"""Checks the nodes of a TrainJob before its program starts: GPUs, folders, and all-reduces within and between nodes.

torchrun starts the processes on all nodes. The first one of a node prints the result of that node,
`preflight: node=gpu-7 processes=8 backend=nccl`, and the first one of all prints that of the network between the nodes,
`preflight: nodes=4 processes=32 backend=nccl`, each with the bandwidth. Before Trainer 2.3, an init container does not
know the other nodes, and each node is checked alone.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta

import torch
import torch.distributed as dist

# Large enough to measure bandwidth instead of latency, and small enough for any device.
ELEMENTS = {"nccl": 64 * 2**20, "gloo": 2**20}
ROUNDS = 5


def main() -> int:
    """Prints what was measured, and returns 1 if the node has a fault."""
    options = _options()
    node = os.environ.get("NODE_NAME", "unknown")
    try:
        check_gpus(options.gpus)
        for folder in options.folder:
            check_folder(folder)
        for line in measure(node, options.timeout_seconds):
            print(f"preflight: {line}", flush=True)
    except (RuntimeError, OSError, ValueError) as error:
        # Collectives raise these for a lost process or a timeout.
        print(f"preflight: node={node} fault: {' '.join(str(error).split())}", flush=True)
        return 1
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=0, help="number of GPUs that the pod requests")
    parser.add_argument("--timeout-seconds", type=int, default=120)
    parser.add_argument("--folder", action="append", default=[], help="a folder that the program may write to")
    return parser.parse_args()


def check_gpus(promised: int) -> None:
    """Raises `RuntimeError` if PyTorch sees fewer GPUs than the pod requests."""
    seen = torch.cuda.device_count()
    if seen < promised:
        raise RuntimeError(f"the pod requests {promised} GPUs, PyTorch sees {seen}: check the driver of the node")


def check_folder(folder: str) -> None:
    """Raises `OSError` if this user cannot write to a folder."""
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"preflight")
            file.flush()
    except OSError as error:
        raise OSError(f"{folder} is not writable for user {os.getuid()}: {error.strerror}") from error


def measure(node: str, timeout_seconds: int) -> Iterator[str]:
    """Collective: yields a line on this node and a line on all nodes, in the processes that print them."""
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    device = torch.device("cpu")
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    timeout = timedelta(seconds=timeout_seconds)
    dist.init_process_group(backend, timeout=timeout)
    rank, world, here = dist.get_rank(), dist.get_world_size(), int(os.environ["LOCAL_WORLD_SIZE"])
    # Within the node first, so that a fault there is not taken for one of the network.
    own, _ = dist.new_subgroups(group_size=here, timeout=timeout)
    result = f"processes={here} backend={backend}{all_reduce(backend, device, own)}"
    if rank % here == 0:
        yield f"node={node} {result}"
    if world > here:
        result = f"processes={world} backend={backend}{all_reduce(backend, device, dist.group.WORLD)}"
        if rank == 0:
            yield f"nodes={world // here} {result}"
    dist.destroy_process_group()


def all_reduce(backend: str, device: torch.device, group: dist.ProcessGroup | None) -> str:
    """Collective: adds the tensors of a group, and returns how fast; raises `ValueError` for a wrong sum."""
    size = dist.get_world_size(group)
    times = []
    for _ in range(ROUNDS):
        values = torch.ones(ELEMENTS[backend], device=device)
        dist.barrier(group)
        began = time.perf_counter()
        dist.all_reduce(values, group=group)
        low, high = (bound.item() for bound in values.aminmax())
        times.append(time.perf_counter() - began)
        if not low == high == size:
            raise ValueError(f"the all-reduce of {size} ones is {low:g} to {high:g}: a device or a link corrupts data")
    # The factor of https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md makes sizes comparable.
    bandwidth = 4 * ELEMENTS[backend] * 2 * (size - 1) / size / min(times) / 1e9
    return f" bus_bandwidth={bandwidth:.1f} GB/s" if size > 1 else ""


if __name__ == "__main__":
    sys.exit(main())
