"""The pods of a Volcano Job go to the default scheduler, so they are not placed as a gang.

Volcano puts all pods of a job into a PodGroup, and its own scheduler starts all of them or none. The webhook sets
`schedulerName: volcano` where the job names no scheduler. With `schedulerName: default-scheduler` in the job or in the
template of a task, the pods wait for the default scheduler, which does not know PodGroups: it starts each pod that
fits, in no queue. The job holds some GPUs and waits for the rest, which is what Volcano is installed to avoid.

Remove the field, or write `schedulerName: volcano`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.document import SetValue
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import VOLCANO, group_of
from trainyard.model.run import Resource

DEFAULT, WANTED = "default-scheduler", "volcano"


@rule(
    code="WL004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/job_controller_util.go: createJobPod, SchedulerName",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/mutate/mutate_job.go: patchDefaultScheduler",
    ),
    fix="unsafe",
    needs=(DEFAULT,),
)
def volcano_scheduler_ignored(resource: Resource) -> Iterator[Problem]:
    """Report pods of Volcano that another scheduler places."""
    if resource.kind != "Job" or group_of(resource.api_version) != VOLCANO:
        return
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    places = [at.child("schedulerName")] if text(spec, "schedulerName") == DEFAULT else []
    for index, task in enumerate(items(spec, "tasks")):
        if text(task, "template", "spec", "schedulerName") == DEFAULT:
            places.append(at.child("tasks", index, "template", "spec", "schedulerName"))
    for place in places:
        yield Problem(
            place,
            "the default scheduler places these pods one by one, and not as Volcano's gang",
            f"write {WANTED}, or remove the field",
            (SetValue(place, WANTED),),
        )
