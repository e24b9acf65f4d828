"""Checks the node of a pod before the program of a TrainJob starts: GPUs, folders, and an all-reduce of its processes.

An init container does not know the number of nodes of its TrainJob, so each pod checks its own node. torchrun starts
the processes. The first one prints the result: `preflight: node=gpu-7 processes=8 backend=nccl`, and the bandwidth.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from datetime import timedelta

import torch
import torch.distributed as dist

# Large enough to measure bandwidth instead of latency, and small enough for any device.
ELEMENTS = {"nccl": 64 * 2**20, "gloo": 2**20}
ROUNDS = 5


def main() -> int:
    """Prints one line, and returns 1 if the node has a fault."""
    options = _options()
    node, is_first = os.environ.get("NODE_NAME", "unknown"), os.environ["LOCAL_RANK"] == "0"
    try:
        check_gpus(options.gpus)
        for folder in options.folder:
            check_folder(folder)
        measured = all_reduce(options.timeout_seconds)
    except (RuntimeError, OSError, ValueError) as error:
        # Collectives raise these for a lost process or a timeout.
        print(f"preflight: node={node} fault: {' '.join(str(error).split())}", flush=True)
        return 1
    if is_first:
        print(f"preflight: node={node} {measured}", flush=True)
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


def all_reduce(timeout_seconds: int) -> str:
    """Adds the tensors of all processes of the node, and returns how fast; raises `ValueError` for a wrong sum."""
    backend = "nccl" if torch.cuda.is_available() else "gloo"
    device = torch.device("cpu")
    if backend == "nccl":
        device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
        torch.cuda.set_device(device)
    dist.init_process_group(backend, timeout=timedelta(seconds=timeout_seconds))
    size = dist.get_world_size()
    times = []
    for _ in range(ROUNDS):
        values = torch.ones(ELEMENTS[backend], device=device)
        dist.barrier()
        began = time.perf_counter()
        dist.all_reduce(values)
        low, high = (bound.item() for bound in values.aminmax())
        times.append(time.perf_counter() - began)
        if not low == high == size:
            raise ValueError(f"the all-reduce of {size} ones is {low:g} to {high:g}: a device or a link corrupts data")
    dist.destroy_process_group()
    # The factor of https://github.com/NVIDIA/nccl-tests/blob/master/doc/PERFORMANCE.md makes sizes comparable.
    bandwidth = 4 * ELEMENTS[backend] * 2 * (size - 1) / size / min(times) / 1e9
    measured = f" bus_bandwidth={bandwidth:.1f} GB/s" if size > 1 else ""
    return f"processes={size} backend={backend}{measured}"


if __name__ == "__main__":
    sys.exit(main())
