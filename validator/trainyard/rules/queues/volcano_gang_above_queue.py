"""The pods that must start together need more than their Volcano queue may ever use, so the job stays pending.

Volcano starts a job when `minAvailable` of its pods fit at once; without the field, all of them. The queue's
`capability` is its hard limit. A gang above it waits forever, with `queue resource quota insufficient`, even in an
empty cluster.

The rule compares a job with the only queue of its name, in the same folder, or in one below or above it.

Lower `minAvailable` or the requests, or raise the capability of the queue.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.workloads import is_volcano
from trainyard.analysis.objects.folders import NESTED, distance
from trainyard.analysis.objects.known_objects import everywhere
from trainyard.analysis.resources.requests import of_pod, place_of, written
from trainyard.document.lookup import integer, mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Role, Run


@rule(
    code="QU008",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/volcano-sh/volcano/issues/4867: a gang of 24 CPUs in a queue of 20",
        "volcano-sh/volcano v1.15.1 pkg/scheduler/plugins/capacity/capacity.go: jobEnqueueable",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/jobs/mutate/mutate_job.go: default of minAvailable",
    ),
    needs=("scheduling.volcano.sh",),
)
def volcano_gang_above_queue(run: Run, context: Context) -> Iterator[Problem]:
    """Report gangs that are larger than their queue."""
    name = text(run.spec, "queue") or "default"
    known = everywhere(context.project, "Queue", name) if is_volcano(run) else []
    if len(known) != 1 or group_of(text(known[0].tree, "apiVersion")) != "scheduling.volcano.sh":
        return
    # Examples beside each other often have a queue of one name.
    if distance(known[0].at, run.at) > NESTED:
        return
    for resource, given in mapping(known[0].tree, "spec", "capability").items():
        capability, need = parse_quantity(given), _least(run, str(resource))
        if capability is None or need is None or need <= capability:
            continue
        role = next(role for role in run.roles if resource in of_pod(role.pod))
        yield Problem(
            place_of(run, role, str(resource)),
            f"the pods that start together need {written(need, str(resource))} {resource}, but queue `{name}` has a "
            f"capability of {written(capability, str(resource))}: the job stays pending",
            "lower minAvailable or the requests, or raise the capability",
            related=((known[0].at.child("spec", "capability", str(resource)), "the capability of the queue"),),
        )


def _least(run: Run, resource: str) -> float | None:
    """Returns the least amount of a resource with which the gang starts; None if it is not known."""
    pods: list[float] = []
    for role in run.roles:
        count = _pods(role)
        if count is None:
            return None
        pods += [of_pod(role.pod).get(resource, 0.0)] * count
    gang = integer(run.spec, "minAvailable")
    # Which pods of the job are the first ones is not certain: at least the smallest.
    return sum(sorted(pods)[:gang] if gang else pods)


def _pods(role: Role) -> int | None:
    least = integer(role.tree, "minAvailable")
    return role.replicas if least is None else least
