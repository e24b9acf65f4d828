"""horovodrun in the launcher of an MPIJob gets no hosts, so it starts all processes in the launcher's own pod.

The operator writes the hosts into /etc/mpi/hostfile, and tells mpirun by a variable. horovodrun has no such default: it
takes the hosts of `-H`, `--hostfile` or `--host-discovery-script`, and `localhost` without them. The workers stay idle
until the launcher ends, and the training uses the processors of the launcher.

Write `--hostfile /etc/mpi/hostfile`, or start the program by mpirun.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Problem, rule
from trainyard.facts.programs.launchers import HOROVOD
from trainyard.model.run import Run

HOSTS = frozenset(("-H", "--hosts", "-hostfile", "--hostfile", "--host-discovery-script", "--config-file"))
# These print something and end.
QUESTIONS = frozenset(("--check-build", "-cb", "--version", "-v", "--help", "-h"))


@rule(
    code="KF046",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "horovod/horovod v0.28.1 runner/launch.py: _run sets args.hosts to localhost:np",
        "kubeflow/mpi-operator v0.8.0 pkg/controller/mpi_job_controller.go: OMPI_MCA_orte_default_hostfile",
        "github.com/horovod/horovod issue 3123",
    ),
    needs=(HOROVOD,),
)
def mpijob_horovodrun_without_hosts(run: Run) -> Iterator[Problem]:
    """Report horovodrun beside workers that it does not know."""
    launcher, worker = run.role("Launcher"), run.role("Worker")
    if run.kind != "MPIJob" or launcher is None or launcher.container is None or worker is None or not worker.replicas:
        return
    for command in launcher.container.commands:
        if command.program == HOROVOD and not command.given(HOSTS | QUESTIONS):
            pods = f"{worker.replicas} worker{'s' if worker.replicas > 1 else ''}"
            yield Problem(
                command.word_at[0],
                f"horovodrun gets no hosts, so it starts all processes in the launcher and leaves the {pods} idle",
                "write `--hostfile /etc/mpi/hostfile`, or start the program by mpirun",
            )
