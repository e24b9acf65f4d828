"""The JobSet refers to a replicated job that does not exist, or comes later, so its webhook rejects it.

`successPolicy.targetReplicatedJobs`, the same list in the rules of `failurePolicy`, `coordinator.replicatedJob` and
`dependsOn` all contain names of `replicatedJobs`. The webhook rejects the whole object if a name is not among them.
For `dependsOn`, the job must be listed above the one that waits for it, and the first job cannot wait for any. The
usual cause is a job that was renamed. In a TrainingRuntime nothing checks the names until a TrainJob creates a JobSet
from it: then the TrainJob is admitted and fails.

Write the name as in `replicatedJobs`, and order the jobs so that each one waits only for jobs above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.document.document import Place
from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.engine.suggestions import format_list
from trainyard.facts.jobs.kubeflow import RUNTIMES
from trainyard.model.run import Run


@rule(
    code="KF032",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/jobset v0.10.1 pkg/webhooks/jobset_webhook.go: ValidateCreate, validateFailurePolicy, "
        "validateCoordinator",
    ),
    needs=("JobSet",),
)
def jobset_names_absent_job(run: Run) -> Iterator[Problem]:
    """Report a reference to a replicated job that does not exist."""
    if run.kind == "JobSet":
        spec, at = run.spec, run.at.child("spec")
    elif run.kind in RUNTIMES:
        spec, at = mapping(run.spec, "template", "spec"), run.at.child("spec", "template", "spec")
    else:
        return
    jobs = items(spec, "replicatedJobs")
    names = [text(job, "name") for job in jobs]
    for name, place in (*_targets(spec, at), *_coordinator(spec, at)):
        if name not in names:
            yield Problem(
                place, f"`{name}` is not one of the replicatedJobs", f"write one of {format_list(filter(None, names))}"
            )
    for number, job in enumerate(jobs):
        for index, other in enumerate(items(job, "dependsOn")):
            name = text(other, "name")
            if name and name not in names[:number]:
                place = at.child("replicatedJobs", number, "dependsOn", index, "name")
                yield _too_early(names[number], name, names, place)


def _too_early(waiting: str, name: str, names: list[str], at: Place) -> Problem:
    if name == waiting:
        return Problem(at, f"`{name}` waits for itself", "name a job above it")
    if name in names:
        return Problem(at, f"`{waiting}` waits for `{name}`, which comes after it", f"move `{name}` above `{waiting}`")
    return Problem(at, f"`{waiting}` waits for `{name}`, which does not exist", "name a job above it")


def _targets(spec: dict[str, Any], at: Place) -> Iterator[tuple[str, Place]]:
    field = "targetReplicatedJobs"
    policies = [(mapping(spec, "successPolicy"), at.child("successPolicy"))]
    for index, one in enumerate(items(spec, "failurePolicy", "rules")):
        policies.append((one, at.child("failurePolicy", "rules", index)))
    for policy, place in policies:
        for index, name in enumerate(items(policy, field)):
            if isinstance(name, str):
                yield name, place.child(field, index)


def _coordinator(spec: dict[str, Any], at: Place) -> Iterator[tuple[str, Place]]:
    name = text(spec, "coordinator", "replicatedJob")
    if name:
        yield name, at.child("coordinator", "replicatedJob")
