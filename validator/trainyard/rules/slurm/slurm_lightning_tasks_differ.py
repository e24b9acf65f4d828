"""Slurm starts other tasks on a node than Lightning has devices, so GPUs stay idle or the program stops.

Under `srun`, each task is one process of Lightning, which starts no processes itself. `--ntasks-per-node` must be
the number of `devices`: Lightning stops with "does not match" if both are told. With one task and three devices,
one GPU trains. Lightning refuses `--ntasks` with several tasks if `--ntasks-per-node` is missing.

The rule looks at commands that srun starts with `--trainer.devices` of LightningCLI, or `trainer.devices` of Hydra.

Write `--ntasks-per-node` with the number of devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.lightning_commands import lightning_sizes
from trainyard.analysis.launchers.slurm import MARK, Batch, Step, batches, steps
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import SRUN
from trainyard.model.run import Container

_TOTAL, _PER_NODE = "--ntasks", "--ntasks-per-node"
# These give tasks in another way.
_OTHERS = ("--ntasks-per-gpu", "--gpus-per-task", "--ntasks-per-socket", "--ntasks-per-core")
# Lightning starts its processes itself in a job of this name.
_INTERACTIVE = ("bash", "interactive")
# Options of srun itself, in front of the program.
_OF_SRUN = ("-n", "--ntasks", "--ntasks-per-node", "--tasks-per-node", "-N", "--nodes", "--overlap", "--interactive")


@rule(
    code="SL021",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "Lightning 2.6.6 fabric/plugins/environments/slurm.py: validate_settings, _validate_srun_variables",
        "github.com/Lightning-AI/pytorch-lightning issue 17252 and pull 15011",
    ),
    needs=(MARK,),
)
def slurm_lightning_tasks_differ(container: Container) -> Iterator[Problem]:
    """Report numbers of tasks that differ from Lightning's devices."""
    for batch in batches(container):
        if any(batch.option(name) is not None for name in _OTHERS) or _name(batch) in _INTERACTIVE:
            continue
        for step in steps(batch, container):
            sizes = lightning_sizes(step.command) if step.of_srun and step.launcher is None else None
            if sizes is not None and sizes.devices and not _has_own(step, container):
                yield from _of_tasks(batch, step, sizes.devices)


def _of_tasks(batch: Batch, step: Step, devices: int) -> Iterator[Problem]:
    total, per_node = decimal(batch.option(_TOTAL) or ""), batch.option(_PER_NODE)
    help_ = f"write `#SBATCH {_PER_NODE}={devices}`"
    if total and total > 1 and per_node is None:
        yield Problem(step.at, f"Lightning refuses {_TOTAL} {total} without {_PER_NODE}: the program stops", help_)
        return
    # Slurm starts one task on each node by default.
    tasks = decimal(per_node) if per_node is not None else 1
    if tasks and tasks != devices and (batch.option(_TOTAL) is None or total):
        number = "one task" if tasks == 1 else f"{tasks} tasks"
        yield Problem(
            step.at,
            f"Slurm starts {number} on each node, and Lightning has {devices} devices: a task is one process",
            help_,
        )


def _name(batch: Batch) -> str:
    return (batch.option("--job-name") or batch.option("-J") or "").strip("\"'")


def _has_own(step: Step, container: Container) -> bool:
    """True if srun has a number of tasks of its own, in front of this program."""
    commands = (one for one in container.commands if one.at.line == step.at.line and one.program == SRUN)
    return any(word.partition("=")[0] in _OF_SRUN for one in commands for word in one.words)
