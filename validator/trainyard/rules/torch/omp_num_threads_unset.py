"""torchrun sets `OMP_NUM_THREADS` to 1 for each process when the manifest does not say more.

With more than one process in a pod, and the variable unset, torchrun writes a warning and gives each process one OpenMP
thread, so that a machine with many ranks is not overloaded. What runs on the CPU then takes one core: tokenizing and
augmentation in the main process, optimizer steps that are offloaded to the CPU, and data loaders that rely on OpenMP.
The GPUs wait, and the container's CPUs are idle.

Set `OMP_NUM_THREADS` to the container's CPUs divided by its processes, less what the data loader's workers take. One
thread can be right: then say so with `"1"`, which also silences the warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects.environment import open_ended
from validator.aspects.torchrun import count, launches, processes
from validator.model import Role
from validator.rule import Context, Problem, rule


@rule(
    code="TD012",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=("pytorch 2.15.0 torch/distributed/run.py: config_from_args, OMP_NUM_THREADS",),
)
def omp_num_threads_unset(role: Role, context: Context) -> Iterator[Problem]:
    """One CPU thread for each process, by default."""
    container, run = role.container, context.run
    if container is None or run is None or container.setting("OMP_NUM_THREADS") is not None:
        return
    if open_ended(container, context):
        return
    for launch in launches(container):
        told = processes(launch, container, run)
        started = container.gpus if told in ("auto", "gpu") else count(told) or 0
        if started > 1:
            yield Problem(
                launch.at,
                f"torchrun gives each of {started} processes one OpenMP thread, for OMP_NUM_THREADS is not set",
                "set OMP_NUM_THREADS to the CPUs that each process may use",
            )
