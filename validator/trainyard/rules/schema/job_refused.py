"""The API server refuses a controller whose fields are right alone and exclude each other.

The object is not created: "backoffLimitPerIndex: Invalid value: requires indexed completion mode", "rollingUpdate:
Forbidden: may not be specified when strategy type is Recreate". In a JobSet, its controller gets the error, and the
JobSet waits without any pod.

The rule knows Jobs, the jobs of CronJobs and JobSets, and the strategies of Deployments. It reads the
schedules of CronJobs, also those of Volcano, KubeRay and Argo Workflows: five fields within their bounds, where Sunday
is 0 and not 7.

Write what the message says.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.admission.schedules import fault_of
from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Resource

# Kinds whose schedules have the form of robfig/cron, by the group of their API.
SCHEDULED = (
    ("batch", "CronJob"),
    ("batch.volcano.sh", "CronJob"),
    ("ray.io", "RayCronJob"),
    ("argoproj.io", "CronWorkflow"),
)


@rule(
    code="SM011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes v1.34.4 pkg/apis/batch/validation/validation.go: validateJobSpec, validatePodFailurePolicy",
        "kubernetes v1.34.4 pkg/apis/apps/validation/validation.go: ValidateDeploymentStrategy",
        "kubernetes v1.34.4 pkg/apis/batch/validation/validation.go: validateScheduleFormat",
        "robfig/cron v3.0.1 parser.go: ParseStandard",
    ),
    needs=(
        "PerIndex", "maxFailedIndexes", "podFailurePolicy", "successPolicy", "rollingUpdate", "schedule:", "schedules:",
    ),
)  # fmt: skip
def job_refused(resource: Resource) -> Iterator[Problem]:
    """Report fields that exclude each other."""
    spec, at = mapping(resource.tree, "spec"), resource.at.child("spec")
    if (group_of(resource.api_version), resource.kind) in SCHEDULED:
        yield from _schedules(spec, at)
    if resource.kind == "Job" and resource.api_version == "batch/v1":
        yield from _job(spec, at)
    elif resource.kind == "CronJob" and resource.api_version.startswith("batch/"):
        yield from _job(mapping(spec, "jobTemplate", "spec"), at.child("jobTemplate", "spec"))
    elif resource.kind == "JobSet":
        for index, job in enumerate(items(spec, "replicatedJobs")):
            place = at.child("replicatedJobs", index, "template", "spec")
            yield from _job(mapping(job, "template", "spec"), place)
    elif resource.kind == "Deployment" and resource.api_version.startswith("apps/"):
        strategy = mapping(spec, "strategy")
        if strategy.get("type") == "Recreate" and strategy.get("rollingUpdate"):
            message = "the strategy Recreate takes no `rollingUpdate`: the API server refuses it"
            yield Problem(at.child("strategy", "rollingUpdate").key(), message, "remove it")


def _schedules(spec: dict[str, Any], at: Place) -> Iterator[Problem]:
    listed = [(one, at.child("schedules", index)) for index, one in enumerate(items(spec, "schedules"))]
    for schedule, place in [(spec.get("schedule"), at.child("schedule")), *listed]:
        if isinstance(schedule, str) and (fault := fault_of(schedule)):
            yield Problem(place, f"the schedule `{schedule}` {fault[0]}: it is refused", fault[1])


def _job(spec: dict[str, Any], at: Place) -> Iterator[Problem]:
    is_indexed = spec.get("completionMode") == "Indexed"
    for name in ("backoffLimitPerIndex", "successPolicy"):
        if spec.get(name) is not None and not is_indexed:
            message = f"`{name}` needs `completionMode: Indexed`: the API server refuses it"
            yield Problem(at.child(name), message, "add `completionMode: Indexed`")
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        message = "`maxFailedIndexes` needs `backoffLimitPerIndex`: the API server refuses it"
        yield Problem(at.child("maxFailedIndexes"), message, "add `backoffLimitPerIndex`")
    policy = spec.get("podFailurePolicy")
    restarts = mapping(spec, "template", "spec").get("restartPolicy")
    if isinstance(policy, dict) and restarts == "OnFailure":
        place = at.child("template", "spec", "restartPolicy")
        message = "a `podFailurePolicy` needs `restartPolicy: Never`: the API server refuses `OnFailure`"
        yield Problem(place, message, "write `Never`")
