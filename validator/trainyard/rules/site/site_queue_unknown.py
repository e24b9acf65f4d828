"""The run names a queue that its namespace does not have, so it stays suspended for ever.

A LocalQueue is in one namespace, and the label `kueue.x-k8s.io/queue-name` (`scheduling.queue.name` in values of
charts/training-job) names one in the run's own. When it is not there, Kueue marks the workload `Inadmissible` with
`LocalQueue doesn't exist`, and the run stays suspended: no pod is ever created, which looks like a queue that is full.

The site has one name for its LocalQueues, `queues.name`, in each namespace of `queues.clusterQueues`.
"""

from __future__ import annotations

from collections.abc import Iterator

from validator.aspects import sites
from validator.facts.kueue import QUEUE
from validator.model import Run
from validator.rule import Context, Problem, rule
from validator.spelling import closest


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
            f"the run waits for the queue `{queue}`, and the site has none",
            "remove it, or set `queues.enabled: true` at the site",
            related=site.note("the site's queues", "queues", "enabled"),
        )
        return
    names = sorted({one.name for one in site.queues})
    namespaces = [one.namespace for one in site.queues if one.name == queue]
    if not namespaces:
        near = closest(queue, names, 0.6)
        yield Problem(
            at,
            f"the site has no queue `{queue}`",
            f"did you mean `{near}`?" if near is not None else f"it has {', '.join(names) or 'none'}",
            related=site.note("the name of the site's queues", "queues", "name"),
        )
    elif namespace and namespace not in namespaces:
        yield Problem(
            at,
            f"the queue `{queue}` is not in namespace {namespace}",
            f"it is in {', '.join(sorted(namespaces))}",
            related=site.note("the site's queues and their namespaces", "queues", "clusterQueues"),
        )
