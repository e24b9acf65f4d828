"""A launcher starts more processes on a node than `CUDA_VISIBLE_DEVICES` leaves GPUs, so the extra processes fail.

Each process uses the GPU with the number of its `LOCAL_RANK`, counted among the visible ones. With two visible GPUs and
eight processes, six fail with `invalid device ordinal`, and torchrun stops the rest. In a pod the variable is
seldom useful: the device plugin already gives the container its own GPUs. The same holds for the processes of
`accelerate launch` and horovodrun, and for those that mpirun starts in each worker with `-x CUDA_VISIBLE_DEVICES=...`.

Remove the variable, or start as many processes as it has entries.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.launcher_options import Start, starts
from trainyard.analysis.launchers.torchrun import processes_per_node, torchrun_commands
from trainyard.analysis.pods.settings import literal_value
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import HOROVOD, MPI_LAUNCHERS
from trainyard.loaders.manifests.node_counts import count
from trainyard.loaders.manifests.shell import mpirun_settings
from trainyard.model.run import Command, Role, Run, Setting

VARIABLE = "CUDA_VISIBLE_DEVICES"


@rule(
    code="TD015",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.nvidia.com/cuda/cuda-c-programming-guide: CUDA environment variables",
        "pytorch 2.15.0 torch/distributed/run.py: --nproc-per-node, LOCAL_RANK",
        "github.com/pytorch/torchtitan issue 423, github.com/horovod/horovod issue 94",
    ),
    needs=(VARIABLE,),
)
def torchrun_more_processes_than_visible(role: Role, context: Context) -> Iterator[Problem]:
    """Processes without a visible GPU."""
    container, run = role.container, context.run
    yield from _of_workers(role, run)
    setting = container.setting(VARIABLE) if container is not None else None
    if container is None or run is None or setting is None or not role.trains:
        return
    value = literal_value(setting)
    if not value or value.startswith("-") or not container.gpus:
        return
    visible = _visible(value)
    launched = [(count(processes_per_node(one, container, run)), "torchrun") for one in torchrun_commands(container)]
    launched += [(_of_one_node(start), "accelerate") for start in starts(container)]
    launched += [(_of_horovod(command), HOROVOD) for command in container.commands if command.program == HOROVOD]
    for started, name in launched:
        if started and started > visible:
            yield _problem(setting, value, started, name)


def _of_workers(role: Role, run: Run | None) -> Iterator[Problem]:
    """Yields the variable that mpirun sets in workers with more slots."""
    container = role.container
    slots = run.spec.get("slotsPerWorker", 1) if run is not None and run.kind == "MPIJob" else None
    if container is None or not isinstance(slots, int):
        return
    for command in container.commands:
        each = decimal(command.option("--npernode", "-npernode", "-N") or "") or slots
        for setting in mpirun_settings(command) if command.program in MPI_LAUNCHERS else ():
            value = setting.value or ""
            is_told = setting.name == VARIABLE and value and "$" not in value and not value.startswith("-")
            if is_told and each > _visible(value):
                yield _problem(setting, value, each, "mpirun on each worker")


def _of_one_node(start: Start) -> int | None:
    """Returns the processes of `accelerate launch` on one machine; None for another launcher, or several machines."""
    command = start.command
    if "--machine-rank" not in start.launcher.valued or start.has("--num-machines", "--gpu-ids", "--config-file"):
        return None
    return decimal(command.option("--num-processes") or "")


def _of_horovod(command: Command) -> int | None:
    hosts = command.has("-H", "--hosts", "-hosts", "-hostfile", "--hostfile", "--host-discovery-script")
    return None if hosts else decimal(command.option("-np", "--num-proc") or "")


def _visible(value: str) -> int:
    return len([entry for entry in value.split(",") if entry.strip()])


def _problem(setting: Setting, value: str, started: int | None, name: str) -> Problem:
    visible = _visible(value)
    return Problem(
        setting.at,
        f"{VARIABLE}={value} leaves {visible} GPU{'s' * (visible > 1)} for {started} processes of {name}",
        "remove the variable",
    )
