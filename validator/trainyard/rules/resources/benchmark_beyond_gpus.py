"""The benchmark of NCCL takes more GPUs on a node than its container has, so it stops with "invalid device ordinal".

Each process of nccl-tests and rccl-tests takes `-g` GPUs in each of its `-t` threads. With MPI, the processes of a node
take GPUs one after the other: `mpirun -npernode 2 all_reduce_perf -g 2` needs four. For one process per GPU, `-g` is 1.
For one process per node, it is the number of GPUs.

The rule counts the processes of a node by `-npernode`, `-N` and `--map-by ppr:N:node`, by the slots that mpirun fills,
and by `-np` if there is one worker.

Write `-g 1`, or start fewer processes on each node.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from trainyard.analysis.launchers.model_servers import whole_gpus
from trainyard.analysis.launchers.training_commands import mpi_processes
from trainyard.document.document import Place
from trainyard.document.lookup import decimal, integer
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS
from trainyard.model.run import Command, Container, Run
from trainyard.startup import pattern

_BENCHMARK = pattern(
    r"(?:.*/)?(?:all_reduce|all_gather|alltoall|alltoallv|broadcast|gather|hypercube|reduce|reduce_scatter|scatter|"
    r"sendrecv)_perf"
)
_GPUS, _THREADS = ("-g", "--ngpus"), ("-t", "--nthreads")
_PER_NODE = ("-npernode", "--npernode", "-N", "-ppn")
_MAPPED = pattern(r"ppr:(\d+):node(?::.*)?")
_HOSTS = ("-H", "-host", "--host", "--hosts", "-hosts", "--hostfile", "-hostfile", "-f")


@rule(
    code="RS025",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "NVIDIA/nccl-tests src/common.cu: run, cudaDev of localRank, nThreads and nGpus",
        "github.com/NVIDIA/nccl-tests issues 1 and 54",
    ),
    needs=("_perf",),
)
def benchmark_beyond_gpus(command: Command, context: Context) -> Iterator[Problem]:
    """Report benchmarks that need more GPUs than there are."""
    container, run = context.container, context.run
    if container is None or run is None:
        return
    start = next((index for index, word in enumerate(command.words) if _BENCHMARK.fullmatch(word)), None)
    if start is None or (start > 0 and command.program not in MPI_LAUNCHERS):
        return
    each, at = _number(command, start, _GPUS)
    threads, _ = _number(command, start, _THREADS)
    own = command.words[1:start]
    holder = _holder(container, run) if start else container
    told = whole_gpus(holder) if holder is not None else None
    processes = _processes(command, own, holder is container, run) if start else 1
    if told is None or each is None or threads is None or processes is None or at is None:
        return
    needed = processes * each * threads
    # More processes than GPUs are a fault of the launcher, which other rules report.
    if needed > told[1] and each * threads > 1:
        times = f"{processes} processes with {each * threads} GPUs each" if processes > 1 else f"{needed} GPUs"
        yield Problem(
            at,
            f"the benchmark needs {times} on a node (-g), and its container has {told[1]} {told[0]}",
            "write `-g 1` for one process per GPU" if processes > 1 else f"write `-g {max(1, told[1] // threads)}`",
        )


def _number(command: Command, start: int, names: tuple[str, ...]) -> tuple[int | None, Place | None]:
    """Returns the last number behind an option of the benchmark, 1 without it; None if it is not told."""
    value, at = "1", None
    for index in range(start + 1, len(command.words)):
        word, equals, joined = command.words[index].partition("=")
        if word in names and (equals or index + 1 < len(command.words)):
            place = index if equals else index + 1
            value, at = joined if equals else command.words[place], command.word_at[place]
        elif word[:2] == names[0] and word[2:].isdigit():
            value, at = word[2:], command.word_at[index]
    return decimal(value), at


def _holder(container: Container, run: Run) -> Container | None:
    """Returns the container in which mpirun starts the processes."""
    worker, launcher = run.role("Worker"), run.role("Launcher")
    if worker is None or launcher is None or container not in launcher.pod.containers:
        return container
    return worker.container


def _processes(command: Command, own: tuple[str, ...], is_here: bool, run: Run) -> int | None:
    """Returns the processes on each node, None if they are not told."""
    for name, value in itertools.pairwise(own):
        mapped = _MAPPED.fullmatch(value) if name in ("--map-by", "-map-by") else None
        if mapped or name in _PER_NODE:
            return int(mapped[1]) if mapped else decimal(value)
    count = mpi_processes(command)
    if is_here:
        return None if any(word in _HOSTS for word in own) or len(run.training_roles) > 1 else count
    worker = run.role("Worker")
    if worker is None or not worker.replicas or count is None:
        return None
    slots = integer(run.spec, "slotsPerWorker")
    return count if worker.replicas == 1 else slots if slots and count == slots * worker.replicas else None
