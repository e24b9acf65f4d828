"""An MPIJob starts the launcher of Intel MPI or MPICH, and the operator prepares a run of Open MPI.

`mpiImplementation` is OpenMPI by default. The operator then writes the host file in the form of Open MPI, `host
slots=4`, and sets the variables of Open MPI. `mpiexec.hydra` cannot read this file: it starts all ranks in the
launcher's pod, or ends.

Write `mpiImplementation: Intel`, or `MPICH`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Add
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command

_HYDRA = "mpiexec.hydra"


@rule(
    code="KF047",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/mpi-operator pkg/controller/mpi_job_controller.go: newConfigMap, a host file of each implementation",
        "github.com/kubeflow/mpi-operator issue 262",
    ),
    fix="unsafe",
    needs=(_HYDRA,),
)
def mpijob_launcher_of_other_mpi(command: Command, context: Context) -> Iterator[Problem]:
    """Report Hydra in a job of Open MPI."""
    run = context.run
    if command.program != _HYDRA or run is None or run.kind != "MPIJob" or "v2" not in run.api_version:
        return
    job = context.project.named("MPIJob", run.name, run.namespace)
    written = text(job.tree, "spec", "mpiImplementation") if job is not None else ""
    if job is None or written not in ("", "OpenMPI"):
        return
    fix = () if written else (Add(job.at.child("spec"), "mpiImplementation", "Intel"),)
    yield Problem(
        command.word_at[0],
        "`mpiexec.hydra` is the launcher of Intel MPI and MPICH, and the host file of this job is that of Open MPI",
        "write `mpiImplementation: Intel` into `spec`",
        fix,
    )
