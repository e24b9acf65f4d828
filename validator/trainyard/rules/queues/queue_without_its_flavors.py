"""The ClusterQueue names ResourceFlavors that do not exist, so it is inactive and admits nothing.

The file of the queue defines ResourceFlavors that no queue names, and none of those that the queue names. A queue whose
flavors are missing has the condition `FlavorNotFound`: each job that waits in it stays suspended, without an event.

`reference-not-found` reports other references without an object with `--pedantic`, as the cluster may have it.

Write the names of the flavors that the file defines.
"""

from __future__ import annotations

from collections.abc import Iterator

from trainyard.analysis.known_objects import everywhere
from trainyard.document.document import Place
from trainyard.document.lookup import items, text
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
    wanted = dict(_flavors(resource)) if resource.kind == "ClusterQueue" else {}
    if not wanted or any("$" in name or everywhere(context.project, "ResourceFlavor", name) for name in wanted):
        return
    source = resource.at.document.source
    beside = [
        one.name for one in context.project.of_kind("ResourceFlavor") if one.at.document.source is source and one.name
    ]
    used = {name for queue in context.project.of_kind("ClusterQueue", "Cohort") for name, _ in _flavors(queue)}
    free = [name for name in beside if name not in used]
    if len(free) < len(wanted):
        return
    for name, at in wanted.items():
        yield Problem(
            at,
            f"there is no ResourceFlavor `{name}`: ClusterQueue `{resource.name}` is inactive and admits nothing",
            f"the file defines {', '.join(f'`{one}`' for one in free)}, which no queue names",
        )


def _flavors(queue: Resource) -> Iterator[tuple[str, Place]]:
    for number, group in enumerate(items(queue.tree, "spec", "resourceGroups")):
        for index, flavor in enumerate(items(group, "flavors")):
            at = queue.at.child("spec", "resourceGroups", number, "flavors", index, "name")
            if text(flavor, "name"):
                yield text(flavor, "name"), at
