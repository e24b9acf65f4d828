"""The JobSet names a replicated job that it does not have, or not yet, and its webhook refuses it.

`successPolicy.targetReplicatedJobs`, the same list in the rules of `failurePolicy`, `coordinator.replicatedJob` and
`dependsOn` all hold names of `replicatedJobs`. A name that is not among them is refused with the whole object; for
`dependsOn` the job has to stand above the one that waits for it, and the first can wait for none. The names survive a
renaming of the jobs, which is how they go wrong. In a TrainingRuntime nobody checks them until a TrainJob makes a
JobSet of it: then the TrainJob is admitted and fails.

Write the name as it stands in `replicatedJobs`, and order the jobs so that each waits for one above it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from validator.facts.kubeflow import RUNTIMES
from validator.fields import items, mapping, text
from validator.model import Run
from validator.rule import Problem, rule
from validator.source import Place


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
    """A reference to a replicated job that is not there."""
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
                place, f"there is no replicated job `{name}`", f"write one of {', '.join(filter(None, names))}"
            )
    for number, job in enumerate(jobs):
        for index, other in enumerate(items(job, "dependsOn")):
            name = text(other, "name")
            if name and name not in names[:number]:
                place = at.child("replicatedJobs", number, "dependsOn", index, "name")
                yield _too_early(names[number], name, names, place)


def _too_early(waiting: str, name: str, names: list[str], at: Place) -> Problem:
    if name == waiting:
        return Problem(at, f"`{name}` waits for itself", "name a job that stands above it")
    if name in names:
        return Problem(at, f"`{waiting}` waits for `{name}`, which stands below it", f"move `{name}` above `{waiting}`")
    return Problem(at, f"`{waiting}` waits for `{name}`, which is not there", "name a job that stands above it")


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
