"""The run uses a gang scheduler for which the site creates no PodGroup.

The training operator creates the PodGroup with which Volcano or scheduler-plugins start all pods of a run or none. It
does so only if it was started with that scheduler: `operator.gangScheduler.name`. Without a PodGroup, pods that name
the scheduler are placed one by one, and two runs that each have half of their pods hold the GPUs and wait for each
other. If the scheduler is not installed at all, the pods stay Pending.

Kubeflow Trainer creates the PodGroup of a TrainJob whose runtime has a `podGroupPolicy`. It may do so only for the
schedulers in `trainer.gangSchedulers`. For another one the API server refuses the PodGroup, and Trainer tries again
forever. The TrainJob gets no pods, or pods that no scheduler places, and only the log of Trainer names the reason.

Set the same scheduler at the site, or remove `scheduling.gang` and `schedulerName`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kubeflow import POD_GROUP_POLICIES, RUNTIMES
from trainyard.facts.jobs.operator_kinds import API, SCHEMES
from trainyard.model.run import Run
from trainyard.model.site import Site

GANGS = ("volcano", "scheduler-plugins-scheduler")


@rule(
    code="SI007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubeflow/training-operator v1.9.3 cmd/training-operator.v1/main.go: gang-scheduler-name",
        "kubeflow/training-operator v1.9.3 pkg/controller.v1/common/job.go: EnableGangScheduling, ReconcileJobs",
        "kubeflow/trainer v2.3.0 pkg/controller/trainjob_controller.go: reconcileObjects ends at the first error",
    ),
    needs=("schedulerName", "gang", "podGroupPolicy"),
    of_site=True,
)
def site_gang_scheduler_differs(run: Run, context: Context) -> Iterator[Problem]:
    """A gang scheduler without PodGroups."""
    site = context.site
    if site is None:
        return
    if run.kind in RUNTIMES:
        yield from _of_trainer(run, site)
    elif run.api_version == API and run.kind in SCHEMES.values():
        yield from _of_operator(run, site)


def _of_operator(run: Run, site: Site) -> Iterator[Problem]:
    if site.operator is None:
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


def _of_trainer(run: Run, site: Site) -> Iterator[Problem]:
    if site.trainer_gangs is None:
        return
    for key in mapping(run.spec, "podGroupPolicy"):
        wanted = POD_GROUP_POLICIES.get(key)
        if wanted is not None and wanted not in site.trainer_gangs:
            known = ", ".join(sorted(site.trainer_gangs))
            yield Problem(
                run.at.child("spec", "podGroupPolicy", key).key(),
                f"the site's Trainer may not create a PodGroup of {wanted}, so the TrainJob never starts: "
                + (f"it may create those of {known}" if known else "it has no gang scheduler"),
                f"set `trainer.gangSchedulers: [{', '.join(sorted({*site.trainer_gangs, wanted}))}]` at the site",
                related=site.note("the site's gang schedulers", "trainer", "gangSchedulers"),
            )
