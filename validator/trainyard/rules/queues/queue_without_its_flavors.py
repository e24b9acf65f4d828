"""The ClusterQueue names ResourceFlavors that do not exist, so it is inactive and admits nothing.

The file of the queue defines ResourceFlavors that no queue names, and none of those that the queue names. A queue whose
flavors are missing has the condition `FlavorNotFound`: each job that waits in it stays suspended, without an event.

`reference-not-found` reports other references without an object with `--pedantic`, as the cluster may have it.

Write the names of the flavors that the file defines.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.jobs.queues import flavors_of, unnamed_flavors
from trainyard.engine.rule import Context, Problem, rule
from trainyard.model.run import Resource


@rule(
    code="QU004",
    severity="warning",
    confidence="high",
    since="0.1.0",
    sources=(
        "github.com/headlamp-k8s/plugins/issues/1191: a ClusterQueue with flavors of other names",
        "kueue.sigs.k8s.io/docs/concepts/cluster_queue: inactive without its flavors (FlavorNotFound)",
    ),
    needs=("ClusterQueue",),
)
def queue_without_its_flavors(resource: Resource, context: Context) -> Iterator[Problem]:
    """Report flavors that the file defines under other names."""
    free = unnamed_flavors(resource, context.project) if resource.kind == "ClusterQueue" else []
    for name, at in dict(flavors_of(resource)).items() if free else ():
        yield Problem(
            at,
            f"there is no ResourceFlavor `{name}`: ClusterQueue `{resource.name}` is inactive and admits nothing",
            f"the file defines {', '.join(f'`{one}`' for one in free)}, which no queue names",
        )
