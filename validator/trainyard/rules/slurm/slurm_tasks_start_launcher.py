"""srun starts several tasks on a node, and each of them is a launcher that starts the ranks of the whole node.

torchrun and `accelerate launch` start one process for each GPU. Under `--ntasks-per-node=8`, srun starts eight of them
on each node, so 64 processes contend for eight GPUs. They fail with an address in use, an invalid device, or out of
memory; with `--gpus-per-task` each launcher sees one GPU and finds no second one.

The rule knows the tasks of `srun` itself, and those of the directives. It leaves out launchers whose number of nodes
is that of all tasks, and runs of their own in each task (`--standalone`) with `--gpus-per-task`.

Write `--ntasks-per-node=1`, or start the program by srun without the launcher.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.slurm import MARK, Batch, Step, batches, node_count, steps
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import SRUN
from trainyard.model.run import Container

_ALL = ("gpu", "auto")
_OF_TASK = "--gpus-per-task"
_TASKS = ("SLURM_NTASKS", "SLURM_NPROCS")


@rule(
    code="SL003",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "slurm.schedmd.com/srun.html: --ntasks-per-node, --ntasks",
        "pytorch 2.15.0 torch/distributed/run.py: one torchrun for each node",
        "github.com/awslabs/awsome-distributed-ai pull 1112",
    ),
    needs=(MARK,),
)
def slurm_tasks_start_launcher(container: Container) -> Iterator[Problem]:
    """Report launchers that several tasks of a node start."""
    for batch in batches(container):
        for step in steps(batch, container):
            tasks, processes = step.tasks_per_node or 1, _processes(step)
            nodes, told = node_count(step)
            if not step.of_srun or tasks < 2 or not processes or nodes == tasks * (step.nodes or 1):
                continue
            if any(name in told for name in _TASKS) or _is_of_task(step, batch, container):
                continue
            each = f"the launcher in each of them starts {processes} processes"
            yield Problem(
                step.at,
                f"srun starts {tasks} tasks on each node, and {each}",
                "write `--ntasks-per-node=1`, so that srun starts the launcher once on each node",
            )


def _is_of_task(step: Step, batch: Batch, container: Container) -> bool:
    """True if each task is a run of its own, with GPUs of its own."""
    own = any(word.startswith(_OF_TASK) for one in container.commands if one.program == SRUN for word in one.words)
    return step.command.has("--standalone") and (own or batch.option(_OF_TASK) is not None)


def _processes(step: Step) -> str:
    """Returns the number of processes that each task starts, as a text; empty for one, or an unknown number."""
    launcher = step.launcher
    if launcher is None or launcher.is_mpi or not (launcher.per_node or launcher.total):
        return ""
    told = step.command.option(*launcher.per_node, *launcher.total)
    count = decimal(told or "")
    if count is not None:
        nodes = (node_count(step)[0] or 1) if launcher.total else 1
        return str(count // nodes) if count // nodes > 1 else ""
    return told if told in _ALL else ""
