"""Which rank a process or a GPU of the kernel's log belongs to.

NCCL prints the process, the rank and the PCI address of each GPU, and torchrun the process of a rank that failed. The
kernel numbers processes as the host does, so a pod with numbers of its own leads to no rank by them.
"""

from __future__ import annotations

import re
from collections import defaultdict

from trainyard.commands.doctor import origins
from trainyard.commands.doctor.cause import Sign

# `llm-worker-0:52:61 [1] NCCL INFO comm 0x55 rank 1 nranks 4 cudaDev 1 nvmlDev 1 busId 41000 - Init COMPLETE`
SIGN = Sign("busId ", r"\brank \d+ .*\bbusId [0-9a-f]+")
_GPU_OF_RANK = re.compile(r"(?:([a-zA-Z][\w.-]*):(\d+):\d+ \[\d+\] )?.*\brank (\d+) .*\bbusId ([0-9a-f]{1,12})\b")
_PROCESS = re.compile(r"\bpid[=:] ?'?(\d+)|Killed process (\d+)")
_MOST = 65536


class Processes:
    """The ranks by the processes and GPUs that the logs name."""

    def __init__(self) -> None:
        self._by_process: dict[str, set[str]] = defaultdict(set)
        self._by_gpu: dict[str, set[tuple[str, str]]] = defaultdict(set)

    def read(self, line: str) -> None:
        """Reads a line in which NCCL names the GPU of a rank."""
        found = _GPU_OF_RANK.search(line)
        if found is not None and len(self._by_gpu) < _MOST and len(self._by_process) < _MOST:
            host, process, rank, bus = found.groups()
            self._by_gpu[_address(int(bus, 16))].add((host or "", f"rank {rank}"))
            if process is not None:
                self.add(process, f"rank {rank}")

    def add(self, process: str, rank: str) -> None:
        """Adds the process of a rank."""
        self._by_process[process].add(rank)

    def rank(self, line: str) -> str | None:
        """Returns the rank of a line of the kernel; None if the logs do not tell, or tell several."""
        kernel = origins.kernel(line)
        if kernel is None:
            return None
        found = _PROCESS.search(line)
        ranks = set(self._by_process.get(found[1] or found[2], ())) if found else set()
        if not ranks and kernel.gpu:
            known = self._by_gpu.get(kernel.gpu, set())
            here = {rank for host, rank in known if kernel.host and kernel.host == host}
            ranks = here or {rank for _, rank in known}
        return ranks.pop() if len(ranks) == 1 else None


def _address(bus: int) -> str:
    """Returns the PCI address of a number of NCCL, which ends with bus, device and function."""
    return f"{bus >> 20:04x}:{bus >> 12 & 0xFF:02x}:{bus >> 4 & 0xFF:02x}"
