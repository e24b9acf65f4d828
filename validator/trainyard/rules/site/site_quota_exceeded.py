"""The run asks for more than its queue can ever give, or for something that the queue has no quota of.

Kueue admits a run when all of its pods fit into the quotas of the ClusterQueue behind its LocalQueue, together with
what its cohort lends. A run that is larger than that is never admitted: it stays suspended without an error, behind or
before others that come and go. So does one with a resource that no quota names, such as an RDMA device that was
forgotten there: for Kueue there is nothing of it.

Make the run smaller, raise the quota, or name the resource in `quotas[].resources`. The devices that every run on the
site asks for need no quota.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import sites
from validator.aspects.known import pods_are_whole
from validator.facts.extended_resources import is_exact
from validator.facts.kueue import QUEUE
from validator.facts.quantities import number
from validator.model import Container, Run
from validator.rule import Context, Problem, rule
from validator.site import SiteQueue
from validator.source import Place


@rule(
    code="SI005",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kueue.sigs.k8s.io/docs/concepts/cluster_queue: resource groups, nominalQuota, borrowingLimit",
        "kubernetes-sigs/kueue v0.14.0 pkg/scheduler/flavorassigner/flavorassigner.go: unavailable",
    ),
    of_site=True,
)
def site_quota_exceeded(run: Run, context: Context) -> Iterator[Problem]:
    """Runs that no quota holds."""
    site = context.site
    if site is None or site.queues is None or not run.labels.get(QUEUE) or not pods_are_whole(run):
        return
    queue = _queue(run, site.queues)
    if queue is None:
        return
    for resource, (total, at) in _asked(run).items():
        limit = queue.quotas.get(resource, 0.0)
        if resource not in queue.quotas:
            yield Problem(
                at,
                f"the queue {queue.cluster_queue} has no quota of {resource}: the run is never admitted",
                "leave it away, or add it to the quotas of the site",
                related=((queue.at, f"the quotas of {queue.cluster_queue}"),),
            )
        elif limit is not None and total > limit:
            yield Problem(
                at,
                f"the run asks for {total:g} {resource}, and the queue {queue.cluster_queue} has {limit:g} at most",
                "make the run smaller, or raise the quota",
                related=((queue.at, f"the quotas of {queue.cluster_queue}"),),
            )


def _queue(run: Run, queues: tuple[SiteQueue, ...]) -> SiteQueue | None:
    """The run's queue; without a namespace only where all of the name are the same."""
    namespace = sites.namespace(run)
    fitting = [one for one in queues if one.name == run.labels[QUEUE] and namespace in ("", one.namespace)]
    return fitting[0] if len({one.cluster_queue for one in fitting}) == 1 else None


def _asked(run: Run) -> dict[str, tuple[float, Place]]:
    """How much of each device all pods ask for, and where the first of them does."""
    asked: dict[str, tuple[float, Place]] = {}
    for role in run.roles:
        for container in role.pod.containers:
            for resource, at in _resources(container):
                count = (role.replicas or 0) * (_quantity(container, resource) or 0)
                total, first = asked.get(resource, (0.0, at))
                asked[resource] = (total + count, first)
    return asked


def _resources(container: Container) -> Iterator[tuple[str, Place]]:
    for field, given in (("limits", container.limits), ("requests", container.requests)):
        for resource in given:
            if is_exact(resource) and (field == "limits" or resource not in container.limits):
                yield resource, container.at.child("resources", field, resource)


def _quantity(container: Container, resource: str) -> float | None:
    return number(container.requests.get(resource, container.limits.get(resource)))
