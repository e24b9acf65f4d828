"""mpirun fills each worker with more processes than it has CPUs.

mpirun places `slotsPerWorker` processes on a worker. Processes without GPUs compute on its CPUs: with eight slots and a
limit of four CPUs, two share each, and with `-bind-to core` mpirun may refuse with `not enough slots` or
`more processes than cpus`.

The rule reports a job whose processes fill all slots, and whose workers have a CPU limit and no accelerator.

Write at most the number of CPUs of a worker into `slotsPerWorker`, and their sum behind `-np`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import mpi_processes
from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Run


@rule(
    code="KF042",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.open-mpi.org v5.0 launching-apps/scheduling: processes are placed by slot",
        "github.com/kubeflow/mpi-operator issue 318",
    ),
    needs=("slotsPerWorker",),
)
def mpijob_slots_above_cpus(run: Run) -> Iterator[Problem]:
    """Report more slots than CPUs if processes fill the slots."""
    slots = integer(run.spec, "slotsPerWorker") if run.kind == "MPIJob" else None
    worker, launcher = run.role("Worker"), run.role("Launcher")
    if slots is None or worker is None or worker.container is None or launcher is None or launcher.container is None:
        return
    cpus = parse_quantity(worker.container.limits.get("cpu"))
    if not cpus or slots <= max(cpus, 1) or not worker.replicas or _has_devices(worker.container.limits):
        return
    if any(mpi_processes(command) == slots * worker.replicas for command in launcher.container.commands):
        message = f"slotsPerWorker is {slots}: mpirun places {slots} processes on each worker, which has {cpus:g} CPUs"
        yield Problem(run.at.child("spec", "slotsPerWorker"), message, "write at most the number of CPUs of a worker")


def _has_devices(limits: dict[str, object]) -> bool:
    return any("/" in str(name) for name in limits)
