"""Volcano rejects the queue: its shares are not in order, or it may use more than its parent.

A queue has a `guarantee`, which is at most `deserved`, which is at most `capability`, for each resource. The
`capability` of a child is at most that of the nearest parent that limits the resource. The webhook checks both; without
it, the scheduler reports `capability exceeds parent queue` in every cycle, and older ones schedule nothing.

Make the smaller share smaller, or the larger one larger.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trainyard.analysis.objects.known_objects import Known, everywhere
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
    if resource.kind != "Queue" or not _is_of_volcano(resource.tree):
        return
    done: set[str] = set()
    for lower, upper in PAIRS:
        below, above = _share(resource.tree, lower), _share(resource.tree, upper)
        for name, quantity in below.items():
            if name in above and quantity > above[name] and name not in done:
                done.add(name)
                yield Problem(
                    resource.at.child("spec", *SHARES[lower], name),
                    f"`{SHARES[lower][0]}` of {name} is above `{SHARES[upper][0]}`: Volcano rejects the queue",
                    f"set it to at most `{SHARES[upper][0]}`",
                    related=((resource.at.child("spec", *SHARES[upper], name), SHARES[upper][0]),),
                )
    for name, quantity in _share(resource.tree, 2).items():
        parent = _limiting(resource, name, context.project)
        if parent is not None and quantity > _share(parent.tree, 2)[name]:
            yield Problem(
                resource.at.child("spec", "capability", name),
                f"the capability of {name} is above that of the parent `{parent.name}`: Volcano rejects the queue, or "
                "schedules nothing",
                "set it to at most the capability of the parent",
                related=((parent.at.child("spec", "capability", name), "the parent"),),
            )


def _is_of_volcano(tree: dict[str, Any]) -> bool:
    return group_of(text(tree, "apiVersion")) == "scheduling.volcano.sh"


def _share(queue: dict[str, Any], index: int) -> dict[str, float]:
    given = mapping(queue, "spec", *SHARES[index])
    known = ((str(name), parse_quantity(quantity)) for name, quantity in given.items())
    return {name: quantity for name, quantity in known if quantity}


def _limiting(queue: Resource, name: str, project: Project) -> Known | None:
    """Returns the nearest parent that limits a resource; None if it is not certain."""
    seen, tree = {queue.name}, queue.tree
    while (parent := text(tree, "spec", "parent")) not in ("", "root", *seen):
        found = [one for one in everywhere(project, "Queue", parent) if _is_of_volcano(one.tree)]
        if len(found) != 1:
            return None
        tree = found[0].tree
        if name in _share(tree, 2):
            return found[0]
        seen.add(found[0].name)
    return None
