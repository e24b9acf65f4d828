"""The run requests more than its queue can ever provide, or a resource without a quota.

Kueue admits a run if all its pods fit into the quotas of the ClusterQueue behind its LocalQueue, together with what its
cohort lends. A larger run is never admitted: it stays suspended without an error while other runs come and go. The same
happens to a run with a resource that no quota names, such as an RDMA device that was forgotten there: for Kueue its
quota is zero.

Make the run smaller, raise the quota, or add the resource to `quotas[].resources`. The devices that every run on the
site requests need no quota.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import sites
from trainyard.analysis.jobs.kubeflow import has_all_pods
from trainyard.document.document import Place
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.facts.kubernetes.extended_resources import is_exact
from trainyard.facts.kubernetes.quantities import parse_quantity
from trainyard.model.run import Container, Run
from trainyard.model.site import SiteQueue


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
    """Runs that exceed their quota."""
    site = context.site
    if site is None or site.queues is None or not run.labels.get(QUEUE) or not has_all_pods(run):
        return
    queue = _queue(run, site.queues)
    if queue is None:
        return
    for resource, (total, at) in _asked(run).items():
        limit = queue.quotas.get(resource, 0.0)
        if resource not in queue.quotas:
            yield Problem(
                at,
                f"the queue {queue.cluster_queue} has no quota for {resource}: the run is never admitted",
                "remove the resource, or add it to the quotas of the site",
                related=((queue.at, f"the quotas of {queue.cluster_queue}"),),
            )
        elif limit is not None and total > limit:
            yield Problem(
                at,
                f"the run requests {total:g} {resource}, but the queue {queue.cluster_queue} has at most {limit:g}",
                "make the run smaller, or raise the quota",
                related=((queue.at, f"the quotas of {queue.cluster_queue}"),),
            )


def _queue(run: Run, queues: tuple[SiteQueue, ...]) -> SiteQueue | None:
    """The run's queue; without a namespace only if all queues of this name have the same ClusterQueue."""
    namespace = sites.namespace(run)
    fitting = [one for one in queues if one.name == run.labels[QUEUE] and namespace in ("", one.namespace)]
    return fitting[0] if len({one.cluster_queue for one in fitting}) == 1 else None


def _asked(run: Run) -> dict[str, tuple[float, Place]]:
    """The total of each device over all pods, and the place of the first request."""
    asked: dict[str, tuple[float, Place]] = {}
    for role in run.roles:
        for container in role.pod.containers:
            for resource, at in _resources(container):
                count = (role.replicas or 0) // run.groups * (_quantity(container, resource) or 0)
                total, first = asked.get(resource, (0.0, at))
                asked[resource] = (total + count, first)
    return asked


def _resources(container: Container) -> Iterator[tuple[str, Place]]:
    for field, given in (("limits", container.limits), ("requests", container.requests)):
        for resource in given:
            if is_exact(resource) and (field == "limits" or resource not in container.limits):
                yield resource, container.at.child("resources", field, resource)


def _quantity(container: Container, resource: str) -> float | None:
    return parse_quantity(container.requests.get(resource, container.limits.get(resource)))
