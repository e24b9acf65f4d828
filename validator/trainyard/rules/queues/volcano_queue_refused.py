"""Volcano rejects the queue: its shares are not in order, or it may use more than its parent.

A queue has a `guarantee`, which is at most `deserved`, which is at most `capability`, for each resource. The
`capability` of a child is at most that of the nearest parent that limits the resource. The webhook checks both; without
it, the scheduler reports `capability exceeds parent queue` in every cycle, and older ones schedule nothing.

Make the smaller share smaller, or the larger one larger.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import mapping, text
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Project, Resource

# Shares from the smallest to the largest.
SHARES = (("guarantee", "resource"), ("deserved",), ("capability",))
PAIRS = ((0, 1), (1, 2), (0, 2))


@rule(
    code="QU007",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/volcano-sh/volcano/issues/4292: deserved above capability",
        "github.com/volcano-sh/volcano/issues/4819: a child with more capability than its parent",
        "volcano-sh/volcano v1.15.1 pkg/webhooks/admission/queues/validate/validate_queue.go: "
        "validateResourceQuantityOfQueue, validateChildAgainstAncestor",
    ),
    needs=("scheduling.volcano.sh",),
)
def volcano_queue_refused(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report queues whose shares are not in order."""
    if not _is_queue(resource):
        return
    done: set[str] = set()
    for lower, upper in PAIRS:
        below, above = _share(resource, lower), _share(resource, upper)
        for name, quantity in below.items():
            if name in above and quantity > above[name] and name not in done:
                done.add(name)
                yield Problem(
                    resource.at.child("spec", *SHARES[lower], name),
                    f"`{SHARES[lower][0]}` of {name} is above `{SHARES[upper][0]}`: Volcano rejects the queue",
                    f"set it to at most `{SHARES[upper][0]}`",
                    related=((resource.at.child("spec", *SHARES[upper], name), SHARES[upper][0]),),
                )
    for name, quantity in _share(resource, 2).items():
        parent = _limiting(resource, name, context.project)
        if parent is not None and quantity > _share(parent, 2)[name]:
            yield Problem(
                resource.at.child("spec", "capability", name),
                f"the capability of {name} is above that of the parent `{parent.name}`: Volcano rejects the queue, or "
                "schedules nothing",
                "set it to at most the capability of the parent",
                related=((parent.at.child("spec", "capability", name), "the parent"),),
            )


def _is_queue(resource: Resource) -> bool:
    return resource.kind == "Queue" and group_of(resource.api_version) == "scheduling.volcano.sh"


def _share(queue: Resource, index: int) -> dict[str, float]:
    given = mapping(queue.tree, "spec", *SHARES[index])
    known = ((str(name), parse_quantity(quantity)) for name, quantity in given.items())
    return {name: quantity for name, quantity in known if quantity}


def _limiting(queue: Resource, name: str, project: Project) -> Resource | None:
    """Returns the nearest parent that limits a resource; None if it is not certain."""
    seen = {queue.name}
    while (parent := text(queue.tree, "spec", "parent")) not in ("", "root", *seen):
        found = [one for one in project.of_kind("Queue") if one.name == parent and _is_queue(one)]
        if len(found) != 1:
            return None
        queue = found[0]
        if name in _share(queue, 2):
            return queue
        seen.add(queue.name)
    return None
