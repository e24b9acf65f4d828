"""The run uses a gang scheduler that the site's operator does not support; its pods start one by one.

The training operator creates the PodGroup with which Volcano or scheduler-plugins start all pods of a run or none. It
does so only if it was started with that scheduler: `operator.gangScheduler.name`. Without a PodGroup, pods that name
the scheduler are placed one by one, and two runs that each have half of their pods hold the GPUs and wait for each
other. If the scheduler is not installed at all, the pods stay Pending.

Set the same scheduler at the site, or remove `scheduling.gang` and `schedulerName`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.operator_kinds import API, SCHEMES
from trainyard.model.run import Run

GANGS = ("volcano", "scheduler-plugins-scheduler")


@rule(
    code="SI007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 cmd/training-operator.v1/main.go: gang-scheduler-name",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/job.go: EnableGangScheduling, ReconcileJobs",
    ),
    needs=("schedulerName", "gang"),
    of_site=True,
)
def site_gang_scheduler_differs(run: Run, context: Context) -> Iterator[Problem]:
    """A gang scheduler without PodGroups."""
    site = context.site
    if site is None or site.operator is None or run.api_version != API or run.kind not in SCHEMES.values():
        return
    gang = site.operator.gang
    for role in run.roles:
        wanted = role.pod.tree.get("schedulerName")
        if wanted not in (*GANGS, gang) or wanted == gang or not wanted:
            continue
        yield Problem(
            role.pod.at.child("schedulerName"),
            f"the site's operator creates no PodGroup for {wanted}: "
            + (f"its gang scheduler is {gang}" if gang else "it has no gang scheduler"),
            f"set `operator.gangScheduler.name: {wanted}` at the site" + (f", or write {gang}" if gang else ""),
            related=site.note("the site's gang scheduler", "operator", "gangScheduler", "name"),
        )
        return
