"""mpirun fills each worker with more processes than it has GPUs.

mpirun places `slotsPerWorker` processes on the first host before it goes on to the next. With eight slots and four
GPUs, two processes share each GPU. NCCL refuses that with "Duplicate GPU detected", and other programs run at half the
speed. Manifests that were copied from machines with more GPUs fail this way.

The rule reports a job whose processes fill all slots. It ignores workers without GPUs and with MIG devices.

Write the number of GPUs of a worker into `slotsPerWorker`, and their sum behind `-np`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.launchers.training_commands import mpi_processes
from trainyard.document.lookup import integer
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="KF039",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "docs.open-mpi.org v5.0 launching-apps/scheduling: processes are placed by slot",
        "NVIDIA/nccl src/init.cc: Duplicate GPU detected",
        "github.com/awslabs/awsome-distributed-ai pull 876",
    ),
    needs=("slotsPerWorker",),
)
def mpijob_slots_above_gpus(run: Run) -> Iterator[Problem]:
    """Report more slots than GPUs if processes fill the slots."""
    slots = integer(run.spec, "slotsPerWorker") if run.kind == "MPIJob" else None
    worker, launcher = run.role("Worker"), run.role("Launcher")
    if slots is None or worker is None or worker.container is None or launcher is None or launcher.container is None:
        return
    gpus = worker.container.gpus
    if not 0 < gpus < slots or not worker.replicas or any("mig-" in name for name in worker.container.limits):
        return
    if any(mpi_processes(command) == slots * worker.replicas for command in launcher.container.commands):
        message = f"mpirun places {slots} processes on each worker, which has {gpus} GPUs: processes share GPUs"
        at = run.at.child("spec", "slotsPerWorker")
        yield Problem(at, message, f"write `slotsPerWorker: {gpus}` and -np {gpus * worker.replicas}")
