"""A ClusterQueue borrows from its cohort or reclaims its quota there, but no other queue of the cohort has its flavors.

Queues of a cohort share quota by flavor and resource: a queue borrows what others leave of the flavors that it lists
itself. Without a common flavor, it neither borrows nor lends, and its jobs wait while the other queue is idle.

The rule needs another queue of the cohort among the files, and a sign that the queue shares: a limit for borrowing or
lending, or `reclaimWithinCohort`. It leaves out cohorts with an object of their own, which may have quota or a parent.

List the flavor of the other queue too, with `nominalQuota: 0`, or remove the cohort.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.document.lookup import items, mapping, text
from trainyard.engine.rule import Problem, rule
from trainyard.facts.jobs.workloads import group_of
from trainyard.model.run import Project, Resource

_LIMITS = ("borrowingLimit", "lendingLimit")


@rule(
    code="QU024",
    severity="warning",
    confidence="high",
    since="0.4.0",
    sources=(
        "kueue.sigs.k8s.io/docs/concepts/cluster_queue: Flavors and borrowing semantics",
        "github.com/kubernetes-sigs/kueue issue 12949",
    ),
    needs=("cohort",),
)
def cohort_without_common_flavor(project: Project) -> Iterator[Problem]:
    """Report queues that share nothing."""
    cohorts: dict[str, list[Resource]] = {}
    for resource in project.of_kind("ClusterQueue"):
        if group_of(resource.api_version) == "kueue.x-k8s.io" and _cohort(resource):
            cohorts.setdefault(_cohort(resource), []).append(resource)
    own = {resource.name for resource in project.of_kind("Cohort")}
    for name, queues in cohorts.items():
        if name in own or "{" in name:
            continue
        holders: dict[str, set[str]] = {}
        for queue in queues:
            for flavor in _flavors(queue):
                holders.setdefault(flavor, set()).add(queue.name)
        for queue in queues:
            flavors = _flavors(queue)
            if flavors and _shares(queue) and all(holders[flavor] == {queue.name} for flavor in flavors):
                other = next((other for other in queues if other.name != queue.name), None)
                if other is None:
                    break
                theirs = min(_flavors(other), default="theirs")
                yield Problem(
                    queue.at.child("spec", _field(queue)),
                    f"no other queue of cohort `{name}` has a flavor of `{queue.name}`: it can neither borrow nor lend",
                    f"list a flavor of the other queues, such as `{theirs}`, with a quota of 0",
                    related=((other.at.child("metadata", "name"), "another queue of the cohort"),),
                )


def _field(queue: Resource) -> str:
    return "cohortName" if text(queue.tree, "spec", "cohortName") else "cohort"


def _cohort(queue: Resource) -> str:
    return text(queue.tree, "spec", _field(queue))


def _flavors(queue: Resource) -> set[str]:
    return {
        text(flavor, "name")
        for group in items(queue.tree, "spec", "resourceGroups")
        for flavor in items(group, "flavors")
    }


def _shares(queue: Resource) -> bool:
    """True if the queue wants something of its cohort."""
    if text(queue.tree, "spec", "preemption", "reclaimWithinCohort") not in ("", "Never"):
        return True
    resources = (
        mapping(given)
        for group in items(queue.tree, "spec", "resourceGroups")
        for flavor in items(group, "flavors")
        for given in items(flavor, "resources")
    )
    return any(given.get(limit) is not None for given in resources for limit in _LIMITS)
