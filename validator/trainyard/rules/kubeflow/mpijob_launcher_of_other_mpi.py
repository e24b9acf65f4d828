"""An MPIJob starts the launcher of Intel MPI or MPICH, and the operator prepares a run of Open MPI.

`mpiImplementation` is OpenMPI by default. The operator then writes the host file in the form of Open MPI, `host
slots=4`, and sets the variables of Open MPI. `mpiexec.hydra` cannot read this file: it starts all ranks in the
launcher's pod, or ends.

The rule leaves out launchers with hosts of their own: an option such as `-f` or `-hosts` with another value, or the
variable `HYDRA_HOST_FILE`.

Write `mpiImplementation: Intel`, or `MPICH`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import Add
from trainyard.document.lookup import text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Command, Container

_HYDRA = "mpiexec.hydra"
_OF_OPERATOR = "/etc/mpi/hostfile"
_HOSTS = frozenset(("f", "hostfile", "machinefile", "machine", "hosts", "host", "configfile"))
_VARIABLES = ("HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE")


@rule(
    code="KF047",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "kubeflow/mpi-operator v0.8.0 pkg/controller/mpi_job_controller.go: "
        "newConfigMap, a host file of each implementation",
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
    if _has_own_hosts(command, context.container):
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


def _has_own_hosts(command: Command, container: Container | None) -> bool:
    """True if the launcher does not depend on the host file of the operator."""
    if container is not None and any(container.setting(name) is not None for name in _VARIABLES):
        return True
    options = {word.lstrip("-").partition("=")[0] for word in command.words[1:] if word.startswith("-")}
    return not options.isdisjoint(_HOSTS) and not any(_OF_OPERATOR in word for word in command.words)
