"""The run names a queue that its namespace does not have, so it stays suspended forever.

A LocalQueue belongs to one namespace, and the label `kueue.x-k8s.io/queue-name` (`scheduling.queue.name` in values of
charts/training-job) names one in the run's own. If it does not exist, Kueue marks the workload `Inadmissible` with
`LocalQueue doesn't exist`, and the run stays suspended. No pod is ever created, which looks like a full queue.

The site has one name for its LocalQueues, `queues.name`, in each namespace of `queues.clusterQueues`.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis import sites
from trainyard.engine.rule import Context, Problem, rule
from trainyard.engine.suggestions import closest_match, format_list
from trainyard.facts.jobs.kueue import QUEUE
from trainyard.model.run import Run


@rule(
    code="SI004",
    severity="error",
    confidence="high",
    since="0.1.0",
    sources=(
        "kubernetes-sigs/kueue v0.14.0 pkg/controller/core/workload_controller.go: LocalQueue doesn't exist",
        "charts/training-platform templates/queues/localqueue.yaml: one in each namespace",
    ),
    of_site=True,
)
def site_queue_unknown(run: Run, context: Context) -> Iterator[Problem]:
    """Queues that the site does not have."""
    site, queue = context.site, run.labels.get(QUEUE)
    if site is None or not isinstance(queue, str) or not queue:
        return
    at, namespace = run.at.child("metadata", "labels", QUEUE), sites.namespace(run)
    if site.queues is None:
        yield Problem(
            at,
            f"the run waits for the queue `{queue}`, but the site has no queues",
            "remove the label, or set `queues.enabled: true` at the site",
            related=site.note("the site's queues", "queues", "enabled"),
        )
        return
    names = sorted({one.name for one in site.queues})
    namespaces = [one.namespace for one in site.queues if one.name == queue]
    if not namespaces:
        near = closest_match(queue, names, 0.6)
        yield Problem(
            at,
            f"the site has no queue `{queue}`",
            f"did you mean `{near}`?" if near is not None else f"the site's queues are {format_list(names) or 'none'}",
            related=site.note("the name of the site's queues", "queues", "name"),
        )
    elif namespace and namespace not in namespaces:
        yield Problem(
            at,
            f"the queue `{queue}` is not in namespace {namespace}",
            f"it is in {format_list(sorted(namespaces))}",
            related=site.note("the site's queues and their namespaces", "queues", "clusterQueues"),
        )
