"""The gang of a Volcano job includes pods that Volcano creates only when the rest of the gang runs, so nothing starts.

A task with `dependsOn` gets no pods until those of the other task are running and ready. Volcano's scheduler starts a
job when as many of its pods as `minAvailable` exist and fit; without the field, all of them. With a launcher that waits
for the workers, `minAvailable` of all pods is therefore never reached: the workers stay Pending with "Not enough valid
tasks for gang-scheduling", and the launcher is never created.

Write the number of pods that wait for nothing, such as that of the workers.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.document.lookup import integer, items, mapping
from trainyard.engine.rule import Problem, rule
from trainyard.model.run import Role, Run


@rule(
    code="QU037",
    severity="error",
    confidence="high",
    since="0.4.0",
    sources=(
        "github.com/volcano-sh/volcano issue 2226",
        "volcano-sh/volcano v1.15.1 pkg/scheduler/plugins/gang/gang.go: validJobFn, ValidTaskNum below MinAvailable",
        "volcano-sh/volcano v1.15.1 pkg/controllers/job/job_controller_actions.go: waitDependsOnTaskMeetCondition",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/mutate/mutate_job.go: patchDefaultMinAvailable",
    ),
    needs=("dependsOn",),
)
def volcano_gang_counts_waiting_task(run: Run) -> Iterator[Problem]:
    """Report gangs that are larger than the tasks without `dependsOn`."""
    waiting = [role for role in run.roles if _waits(role, run)] if is_volcano(run) else []
    counts = [_pods(role) for role in run.roles]
    if not waiting or None in counts:
        return
    first = sum(role.replicas or 0 for role in run.roles if role not in waiting)
    gang = integer(run.spec, "minAvailable") or sum(count or 0 for count in counts)
    if not 0 < first < gang:
        return
    at = run.at.child("spec", "minAvailable") if "minAvailable" in run.spec else run.at.child("spec").key()
    yield Problem(
        at,
        f"the gang needs {gang} pods, and `dependsOn` lets Volcano create {first} before they run: none starts",
        f"write `minAvailable: {first}`",
        related=tuple((role.at.child("dependsOn").key(), f"{role.name} waits") for role in waiting),
    )


def _waits(role: Role, run: Run) -> bool:
    """True if a task waits for pods of another one. One of which no pods must run is not waited for."""
    others = [run.role(name) for name in items(mapping(role.tree, "dependsOn"), "name") if isinstance(name, str)]
    return any(other is not None and _pods(other) != 0 for other in others)


def _pods(role: Role) -> int | None:
    least = integer(role.tree, "minAvailable")
    return role.replicas if least is None else least
