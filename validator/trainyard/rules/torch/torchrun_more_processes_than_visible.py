"""A launcher starts more processes on a node than `CUDA_VISIBLE_DEVICES` leaves GPUs, so the extra processes fail.

Each process uses the GPU with the number of its `LOCAL_RANK`, counted among the visible ones. With two visible GPUs and
eight processes, six fail with `invalid device ordinal`, and torchrun stops the rest. In a pod the variable is
seldom useful: the device plugin already gives the container its own GPUs. The same holds for the processes of
`accelerate launch` and horovodrun, and for those that mpirun starts in each worker with `-x CUDA_VISIBLE_DEVICES=...`.

In a script that no manifest starts, the variable counts if it stands before the launcher, or once above it and outside
of conditions.

Remove the variable, or start as many processes as it has entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from trainyard.analysis.launchers.launcher_options import Start, starts
from trainyard.analysis.launchers.torchrun import processes_per_node, torchrun_commands
from trainyard.analysis.pods.settings import literal_value
from trainyard.document.document import Place
from trainyard.document.lookup import decimal
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.programs.launchers import HOROVOD, MPI_LAUNCHERS
from trainyard.loaders.manifests.node_counts import count
from trainyard.loaders.manifests.shell import mpirun_settings
from trainyard.model.run import Command, Container, Run, Setting

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
def torchrun_more_processes_than_visible(container: Container, context: Context) -> Iterator[Problem]:
    """Processes without a visible GPU."""
    role, run = context.role, context.run
    if role is None or run is None or role.container is None or role.container.at != container.at:
        return
    yield from _of_workers(container, run)
    if not (role.trains and run.is_job) and not _is_script(run):
        return
    of_line = _by_line(container)
    for started, name, at in _launched(container, run):
        setting = of_line(at) if _is_script(run) else container.setting(VARIABLE)
        value = literal_value(setting) if setting is not None else None
        if setting is None or not value or value.startswith("-") or not (container.gpus or _is_script(run)):
            continue
        if started and started > _visible(value):
            yield _problem(setting, value, started, name)


def _is_script(run: Run) -> bool:
    """True for a script that no manifest starts."""
    return not run.kind


def _launched(container: Container, run: Run) -> Iterator[tuple[int | None, str, Place]]:
    """Yields the number of processes that each launcher starts on a node, its name and its place."""
    for one in torchrun_commands(container):
        yield count(processes_per_node(one, container, run)), "torchrun", one.at
    for start in starts(container):
        yield _of_one_node(start), "accelerate", start.command.at
    for command in container.commands:
        if command.program == HOROVOD:
            yield _of_horovod(command), HOROVOD, command.at


def _by_line(container: Container) -> Callable[[Place], Setting | None]:
    """Returns a function that finds the variable of a launcher in a script: before it, or the only one above it."""
    found = [one for one in container.settings if one.name == VARIABLE]
    before = {one.at.line: one for one in reversed(found) if one.via == "command"}
    above = _above([one for one in found if one.via == "script"], container)

    def of_line(at: Place) -> Setting | None:
        return before.get(at.line) or (above if above is not None and above.at.line < at.line else None)

    return of_line


def _above(found: Sequence[Setting], container: Container) -> Setting | None:
    """Returns the only variable of a script, if it stands outside of conditions."""
    if len(found) != 1 or len(container.scripts) != 1:
        return None
    text, number = container.scripts[0].text, found[0].at.line
    line = (text.split("\n", number)[number - 1 : number] or [" "])[0]
    return found[0] if not line[:1].isspace() and f"unset {VARIABLE}" not in text else None


def _of_workers(container: Container, run: Run) -> Iterator[Problem]:
    """Yields the variable that mpirun sets in workers with more slots."""
    slots = run.spec.get("slotsPerWorker", 1) if run.kind == "MPIJob" else None
    if not isinstance(slots, int):
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
