"""The memory that the processes of a run need at least, against that of the machine."""

from __future__ import annotations

from trainyard.commands.local.errors import RunRefusedError
from trainyard.commands.local.job import Job
from trainyard.commands.local.machine import Machine

# `import torch` takes 290 MiB that processes do not share (PyTorch 2.15 for CPUs, Python 3.11). A run takes more.
_PROCESS_BYTES = 250 << 20
_GIB = 1 << 30


def check_memory(job: Job, machine: Machine) -> None:
    """Raises `RunRefusedError` if the processes cannot even import PyTorch together.

    torchrun and accelerate import it as well, on each node. The program of any other launcher may not be Python.
    """
    if machine.memory is None or job.launcher == "command":
        return
    processes, fitting = process_count(job, machine), machine.memory // _PROCESS_BYTES
    wanted = job.nodes * (processes + 1)
    if wanted <= fitting:
        return
    raise RunRefusedError(
        f"{job.nodes} x {processes} processes take {wanted * _PROCESS_BYTES / _GIB:.1f} GiB of memory to import "
        f"PyTorch, and {machine.memory / _GIB:.1f} GiB are free: {_remedy(job.nodes, fitting)}"
    )


def process_count(job: Job, machine: Machine) -> int:
    """Returns the number of processes of a node; torchrun counts GPUs, or processors without GPUs."""
    if isinstance(job.processes, int):
        return job.processes
    gpus = 0 if job.processes == "cpu" else len(machine.gpus) // job.nodes
    return gpus or machine.processors


def _remedy(nodes: int, fitting: int) -> str:
    if (each := fitting // nodes - 1) > 0:
        return f"{nodes} x {each} fit, add --processes-per-node {each}"
    if (fewer := fitting // 2) > 0:
        return f"{fewer} x 1 fit, add --nodes {fewer} --processes-per-node 1"
    return "end other programs first"
