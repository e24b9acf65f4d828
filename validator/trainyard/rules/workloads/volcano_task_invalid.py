"""Volcano rejects the job: a task has no valid name of its own, or depends on a task that does not exist.

The webhook of Volcano takes a Job with at least one task. The names of the tasks are parts of the names of their pods:
each is a DNS-1123 label, with lower case letters, digits and dashes, and no two are equal. A task without a name gets
one. `dependsOn` names tasks of the same job; a task that waits for one that does not exist makes a graph that is not
valid.

Give each task its own name, and write existing names into `dependsOn`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from trainyard.document.lookup import items, text
from trainyard.document.placeholders import has_parameter
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import VOLCANO, group_of
from trainyard.model.run import Resource

LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")


@rule(
    code="WL001",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/validate/admit_job.go: validateJobCreate, topoSort",
        "volcano-sh/volcano v1.15.1 config/crd/volcano/bases/batch.volcano.sh_jobs.yaml: pattern of tasks.name",
    ),
    needs=("batch.volcano.sh",),
)
def volcano_task_invalid(resource: Resource) -> Iterator[Problem]:
    """Report tasks that Volcano rejects."""
    if resource.kind != "Job" or group_of(resource.api_version) != VOLCANO:
        return
    tasks, at = items(resource.tree, "spec", "tasks"), resource.at.child("spec", "tasks")
    if not tasks:
        yield Problem(at, "the job has no task: Volcano rejects it", "write the pods of the job into spec.tasks")
    known: set[str] = set()
    for index, task in enumerate(tasks):
        name, place = text(task, "name"), at.child(index, "name")
        if name in known:
            yield Problem(place, f"two tasks are named `{name}`: Volcano rejects the job", "give each its own name")
        elif name and not LABEL.match(name) and not has_parameter(name):
            yield Problem(
                place,
                f"`{name}` is not a valid name of a task (DNS-1123 label)",
                "use lower case letters, digits and dashes, and at most 63 characters",
            )
        known.add(name)
    for index, task in enumerate(tasks):
        for number, name in enumerate(items(task, "dependsOn", "name")):
            if name not in known:
                yield Problem(
                    at.child(index, "dependsOn", "name", number),
                    f"the job has no task `{name}`: Volcano rejects it",
                    "write the name of a task of this job",
                )
