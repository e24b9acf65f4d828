"""mpirun binds each of two processes to one core, so all of its threads and workers share that core.

Open MPI binds to a core if there are at most two processes, and to a socket or a NUMA node if there are more. The
threads that serve several GPUs, those of NCCL and the workers of a DataLoader inherit the binding. A measurement with
`all_reduce_perf -g 8` on two nodes then shows a fraction of the bandwidth.

The rule knows Open MPI by its own options, such as `--allow-run-as-root` or `-x`. It looks at Python programs
of jobs with GPUs, and at two processes of nccl-tests with several GPUs or threads in each.

Add `--bind-to none`.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import MPI_LAUNCHERS, MPI_PROGRAM
from trainyard.model.last_index import LastIndex
from trainyard.model.run import Command, Container, Run

_COUNTS = ("-np", "--np", "-n", "--n", "-c", "--c")
_OWN = frozenset(("--allow-run-as-root", "-allow-run-as-root", "--mca", "-mca", "-x", "--tag-output"))
# Each of these places or binds the processes in another way.
_PLACED = ("bind-to", "map-by", "cpu", "rankfile", "-rf", "oversubscribe", "slot-list", "hwloc", "npersocket", "ppr")
_VARIABLES = (
    "OMPI_MCA_hwloc_base_binding_policy",
    "PRTE_MCA_hwloc_default_binding_policy",
    "OMPI_MCA_rmaps_base_bind_to",
)
# Numbers of GPUs and of threads in a process of nccl-tests.
_OF_TESTS = ("-g", "--ngpus", "-t", "--nthreads")
_FEW = 2


@rule(
    code="SC041",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "open-mpi/ompi v4.1 mpirun(1): by default, bind to core when the number of processes is <= 2",
        "docs.open-mpi.org/en/v5.0.x/man-openmpi/man1/mpirun.1.html: mapping, ranking and binding",
        "github.com/NVIDIA/nccl issue 644",
    ),
    needs=tuple(sorted(MPI_LAUNCHERS)),
)
def mpirun_binds_to_one_core(container: Container, context: Context) -> Iterator[Problem]:
    """Report two processes or fewer that mpirun binds by its default."""
    if any(container.setting(name) is not None for name in _VARIABLES):
        return
    run = context.run
    has_gpus = run is not None and _has_gpus.of(run)
    for command in container.commands:
        if command.program not in MPI_LAUNCHERS:
            continue
        own = tuple(itertools.takewhile(lambda word: not MPI_PROGRAM.fullmatch(word), command.words[1:]))
        count = _count(own)
        placed = any(name in word for word in own if word.startswith("-") for name in _PLACED)
        placed = placed or any("hwloc" in word or "rmaps" in word for word in own)
        if count is None or count > _FEW or placed or _OWN.isdisjoint(own):
            continue
        if not _has_threads(command, len(own) + 1, count, has_gpus):
            continue
        yield Problem(
            command.word_at[0],
            f"mpirun binds each of {count} processes to one core, which all of its threads and workers share"
            if count > 1
            else "mpirun binds the process to one core, which all of its threads and workers share",
            "add `--bind-to none`",
        )


def _find_gpus(run: Run) -> bool:
    return any(one.gpus for one in run.containers)


# Each container asks.
_has_gpus: LastIndex[Run, bool] = LastIndex(_find_gpus)


def _count(words: tuple[str, ...]) -> int | None:
    for index, word in enumerate(words[:-1]):
        if word in _COUNTS:
            return decimal(words[index + 1]) or None
    return None


def _has_threads(command: Command, start: int, count: int, has_gpus: bool) -> bool:
    program = command.words[start].rsplit("/", 1)[-1] if start < len(command.words) else ""
    if program.startswith("python") or program.endswith(".py"):
        return has_gpus
    after = Command(command.words[start:], command.word_at[start:], command.at)
    numbers = [decimal(after.option(name) or "") or 1 for name in _OF_TESTS]
    # One process has no network, whose threads are the busy ones.
    return program.endswith("_perf") and count > 1 and max(numbers) > 1
