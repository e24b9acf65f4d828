"""`OMP_NUM_THREADS` is unset, so torchrun sets it to 1 for each process.

If a pod has more than one process and the variable is unset, torchrun logs a warning and gives each process one OpenMP
thread, so that a machine with many ranks is not overloaded. Work on the CPU then uses one core: tokenizing and
augmentation in the main process, optimizer steps that are offloaded to the CPU, and data loaders that rely on OpenMP.
The GPUs wait while the container's CPUs are idle.

Set `OMP_NUM_THREADS` to the container's CPUs divided by its processes, less the CPUs of the data loader's workers. One
thread can be right: then write `"1"`, which also silences the warning.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.torchrun import processes_per_node, torchrun_commands
from trainyard.analysis.pods.environment import has_unknown_variables
from trainyard.engine.rule import Context, Problem, rule
from trainyard.loaders.manifests.node_counts import count
from trainyard.model.run import Role


@rule(
    code="TD012",
    severity="info",
    confidence="medium",
    since="0.1.0",
    sources=("pytorch 2.15.0 torch/distributed/run.py: config_from_args, OMP_NUM_THREADS",),
)
def omp_num_threads_unset(role: Role, context: Context) -> Iterator[Problem]:
    """One OpenMP thread for each process, by default."""
    container, run = role.container, context.run
    if container is None or run is None or container.setting("OMP_NUM_THREADS") is not None:
        return
    if has_unknown_variables(container, context):
        return
    for launch in torchrun_commands(container):
        told = processes_per_node(launch, container, run)
        started = container.gpus if told in ("auto", "gpu") else count(told) or 0
        if started > 1:
            yield Problem(
                launch.at,
                f"OMP_NUM_THREADS is unset, so torchrun sets it to 1 in each of {started} processes",
                "set OMP_NUM_THREADS to the number of CPUs for each process",
            )
