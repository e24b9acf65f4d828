"""Volcano's plugin `mpi` names a task that the job does not have.

The plugin gives the task `--master` the variable `MPI_HOST` with the addresses of the task `--worker`; without these
arguments the tasks are named `master` and `worker`. The webhook rejects a job without the master. Without the worker,
the controller of older releases panics repeatedly, and that of newer ones sets no `MPI_HOST`, so
mpirun has no hosts.

Name existing tasks in the arguments, or remove the plugin from a job of one task.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import argument, is_volcano, plugins
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Run


@rule(
    code="WL008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/volcano-sh/volcano/issues/4609: the controller panics without the worker task",
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins/distributed-framework/mpi/mpi.go: OnPodCreate",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: validateJobCreate",
    ),
    needs=("batch.volcano.sh",),
)
def volcano_mpi_task_missing(run: Run) -> Iterator[Problem]:
    """Report tasks that the plugin does not find."""
    arguments = plugins(run).get("mpi") if is_volcano(run) else None
    for role in ("master", "worker") if arguments is not None else ():
        name = argument(arguments or [], role) or role
        if run.role(name) is None and "$" not in name:
            yield Problem(
                run.at.child("spec", "plugins", "mpi"),
                f"the plugin `mpi` needs the {role} task `{name}`, which the job does not have",
                f"add the task, or name another one with --{role}",
            )
