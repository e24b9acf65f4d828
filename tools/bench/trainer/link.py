"""The bandwidth between two pods, of an all-reduce and of plain TCP; the program runs alone in both pods.

Rank 0 prints `result` and, as JSON, the seconds of each round of each way to transfer the same number of bytes.
"""

from __future__ import annotations

import datetime
import json
import os
import socket
import threading
import time
from collections.abc import Callable

import torch
import torch.distributed as dist

SIZE = 64 << 20
ROUNDS = 15
WARM_UP_ROUNDS = 3
# The default bucket size of DistributedDataParallel, in bytes.
BUCKET = 25 << 20


class Link:
    """One TCP connection between the two pods, with the kernel's default buffer sizes."""

    def __init__(self, rank: int) -> None:
        """A collective."""
        self._rank = rank
        with socket.create_server(("", 0)) as server:
            here = (socket.gethostbyname(socket.gethostname()), server.getsockname()[1])
            addresses = [here, here]
            dist.all_gather_object(addresses, here)
            self._socket = server.accept()[0] if rank == 0 else socket.create_connection(addresses[0])
        self._sent = bytes(SIZE)
        self._received = memoryview(bytearray(SIZE))

    def both_ways(self) -> None:
        """Send all bytes in both directions at the same time."""
        sender = threading.Thread(target=self._socket.sendall, args=(self._sent,))
        sender.start()
        self._receive(SIZE)
        sender.join()

    def one_way(self) -> None:
        """Send all bytes from rank 0, which waits for one byte of acknowledgement."""
        if self._rank == 0:
            self._socket.sendall(self._sent)
            self._receive(1)
        else:
            self._receive(SIZE)
            self._socket.sendall(b".")

    def _receive(self, size: int) -> None:
        there = 0
        while there < size:
            there += self._socket.recv_into(self._received[there:size])


def all_reduce_buckets(tensor: torch.Tensor) -> None:
    """Reduce the parts of a tensor concurrently, as DistributedDataParallel does with gradients."""
    length = BUCKET // tensor.element_size()
    parts = [tensor[first : first + length] for first in range(0, len(tensor), length)]
    for work in [dist.all_reduce(part, async_op=True) for part in parts]:
        work.wait()


def seconds(act: Callable[[], object]) -> float:
    """Return the time of the slower rank. A collective."""
    dist.barrier()
    begun = time.perf_counter()
    act()
    took = torch.tensor([time.perf_counter() - begun])
    dist.all_reduce(took, op=dist.ReduceOp.MAX)
    return float(took)


def main() -> None:
    """Measure the ways in turn, so that a busy moment affects all of them."""
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=120))
    link = Link(dist.get_rank())
    tensor = torch.ones(SIZE // 4)
    ways: dict[str, Callable[[], object]] = {
        "all_reduce": lambda: dist.all_reduce(tensor),
        "buckets": lambda: all_reduce_buckets(tensor),
        "both_ways": link.both_ways,
        "one_way": link.one_way,
    }
    found: dict[str, list[float]] = {name: [] for name in ways}
    for number in range(WARM_UP_ROUNDS + ROUNDS):
        for name, act in ways.items():
            took = seconds(act)
            if number >= WARM_UP_ROUNDS:
                found[name].append(took)
        tensor.fill_(1.0)
    if dist.get_rank() == 0:
        print("result", json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
    os._exit(0)
