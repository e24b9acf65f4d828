"""A plugin of a Volcano Job names a task that the job does not have.

The plugin `mpi` gives the task `--master` the variable `MPI_HOST` with the addresses of the task `--worker`; without
these arguments the tasks are named `master` and `worker`. The webhook rejects a job without the master. Without the
worker, the controller of older releases panics repeatedly, and that of newer ones sets no `MPI_HOST`, so mpirun has no
hosts.

The plugin `ray` looks for a task named `head`, or that of `--head`, to give the others its address. Without it the
controller creates no pods, and the job stays in `Pending`. Its `--worker` may be missing.

Name existing tasks in the arguments, or remove the plugin from a job of one task.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import argument, is_volcano, plugins
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.model.run import Run

# The arguments with the tasks that a plugin needs; an argument that is not there has its own name as its value.
_NEEDED = {"mpi": ("master", "worker"), "ray": ("head",)}


@rule(
    code="WL008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/volcano-sh/volcano/issues/4609: the controller panics without the worker task",
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/plugins/distributed-framework/mpi/mpi.go: OnPodCreate",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: validateJobCreate",
        "volcano-sh/volcano ed72c7c pkg/controllers/job/plugins/distributed-framework/ray/ray.go: OnPodCreate",
        "github.com/volcano-sh/volcano issue 5658",
    ),
    needs=("batch.volcano.sh",),
)
def volcano_mpi_task_missing(run: Run) -> Iterator[Problem]:
    """Report tasks that a plugin does not find."""
    found = plugins(run) if is_volcano(run) else {}
    for plugin, needed in _NEEDED.items():
        for role in needed if plugin in found else ():
            name = argument(found[plugin], role) or role
            if run.role(name) is None and "$" not in name:
                yield Problem(
                    run.at.child("spec", "plugins", plugin),
                    f"the plugin `{plugin}` needs the {role} task `{name}`, which the job does not have",
                    f"add the task, or name another one with --{role}; the tasks of the job: "
                    f"{format_list(one.name for one in run.roles)}",
                )
