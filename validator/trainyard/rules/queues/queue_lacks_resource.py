"""The job requests a resource that its ClusterQueue does not cover, so Kueue never admits the job.

Kueue admits a job only if the ClusterQueue has a flavor for every resource that the pods request, CPU and memory
included. Otherwise the job stays suspended, and its Workload says `resource ... unavailable in ClusterQueue`.

The rule follows the label `kueue.x-k8s.io/queue-name` to the LocalQueue and the ClusterQueue in the files.

Add the resource to `coveredResources` and to each flavor of the group, with a `nominalQuota`. For network devices that
need no quota, set `resources.excludeResourcePrefixes` in the configuration of Kueue and list the prefix in the
parameter `excluded_prefixes`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.engine.rule import Context, Problem, rule
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Run
from trainyard.startup import NamedTuple


class Parameters(NamedTuple):
    """`excluded_prefixes`: resources that the configuration of Kueue excludes."""

    excluded_prefixes: tuple[str, ...] = ()


@rule(
    code="QU010",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.19.2 pkg/scheduler/flavorassigner: findFlavorForPodSets, unavailable in ClusterQueue",
        "kueue.sigs.k8s.io/docs/installation: resources.excludeResourcePrefixes",
    ),
    parameters=Parameters(),
    needs=("ClusterQueue",),
)
def queue_lacks_resource(run: Run, context: Context) -> Iterator[Problem]:
    """Resources that the ClusterQueue of a job does not cover."""
    # A rule with parameters is imported in every run.
    from trainyard.analysis.jobs.queues import queue_of
    from trainyard.analysis.resources.requests import asked

    queue = queue_of(run, context.project) if QUEUE in run.labels else None
    if queue is None or not queue.groups:
        return
    for name, (_, at) in asked(run).items():
        if queue.group_of(name) is None and not name.startswith(tuple(context.parameters.excluded_prefixes)):
            yield Problem(
                at,
                f"ClusterQueue `{queue.name}` does not cover {name}: Kueue never admits {run.kind} {run.name}",
                f"add {name} to `coveredResources` with a quota",
                related=((queue.at.child("spec", "resourceGroups"), "the resources of the queue"),),
            )
