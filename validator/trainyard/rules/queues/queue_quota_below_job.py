"""The job needs more than its ClusterQueue can ever have, so Kueue never admits the job.

Kueue takes each resource of a role from one flavor, up to the `nominalQuota` and, in a cohort, the `borrowingLimit`.
A role larger than the largest flavor, or a job larger than all flavors together, stays suspended even in an empty
cluster.

The rule ignores queues in a cohort without a `borrowingLimit`, which may borrow everything that others do not use, and
jobs with partial admission.

Make the job smaller, or raise the quota.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.queues import Group, queue_of
from trainyard.analysis.resources.requests import of_pod, place_of, pods_of, written
from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import ELASTIC, QUEUE
from trainyard.model.run import Run

PARTIAL = ("kueue.x-k8s.io/job-min-parallelism", ELASTIC)


@rule(
    code="QU011",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner: fitsResourceQuota, insufficient quota",
        "kueue.sigs.k8s.io/docs/concepts/cluster_queue: nominalQuota, borrowingLimit",
    ),
    needs=("ClusterQueue",),
)
def queue_quota_below_job(run: Run, context: Context) -> Iterator[Problem]:
    """Jobs that are larger than the quotas of their ClusterQueue."""
    if QUEUE not in run.labels or any(name in run.annotations for name in PARTIAL):
        return
    queue = queue_of(run, context.project)
    names = dict.fromkeys(name for role in run.roles for name in of_pod(role.pod))
    for name in names if queue is not None else ():
        group = queue.group_of(name) if queue is not None else None
        quotas = _quotas(group, name) if group is not None else None
        if queue is None or group is None or not quotas:
            continue
        needs = [of_pod(role.pod).get(name, 0.0) * pods_of(role, run) for role in run.roles]
        largest, total = max(needs), sum(needs)
        need, most = (largest, max(quotas)) if largest > max(quotas) else (total, sum(quotas))
        if need > most:
            role = run.roles[needs.index(largest)]
            yield Problem(
                place_of(run, role, name),
                f"{run.kind} {run.name} needs {written(need, name)} {name}, but ClusterQueue `{queue.name}` has at "
                f"most {written(most, name)}: Kueue never admits the job",
                "make the job smaller, or raise the quota",
                related=((group.flavors[0].at, "the quota"),),
            )


def _quotas(group: Group, name: str) -> list[float]:
    """The quotas of all flavors; none if one of them is not known."""
    found = [flavor.quotas.get(name) for flavor in group.flavors]
    return [quota for quota in found if quota is not None] if None not in found else []
